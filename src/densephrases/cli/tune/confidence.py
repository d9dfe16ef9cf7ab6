"""`densephrases tune confidence`: the weights that turn scores into probabilities."""

from densephrases.cli.article_index import ArticleIndexOption
from densephrases.cli.eval.confidence import (
    AbsentOption,
    PlotOption,
    SwappedOption,
    UnanswerableOption,
    measure_confidence,
    refuse_missing_packages,
    show_confidence,
)
from densephrases.cli.options import AsJson, SquadData
from densephrases.cli.tune.model_folder import DryRun, ModelArgument, folder_to_tune


def confidence(
    model: ModelArgument,
    data: SquadData,
    unanswerable: UnanswerableOption = None,
    absent: AbsentOption = 0.25,
    swapped: SwappedOption = 0.1,
    index: ArticleIndexOption = None,
    plot: PlotOption = None,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Fit confidences to an index of the articles of a SQuAD file and report them as `eval confidence` does."""
    refuse_missing_packages(plot)
    folder = folder_to_tune(model, dry_run)
    from densephrases.model.load import load

    encoder = load(folder)
    found = measure_confidence(encoder, data, unanswerable, absent, swapped, index)
    if not dry_run:
        encoder.config.with_confidence(found.weights).save(folder)
    show_confidence(found, plot, as_json)
