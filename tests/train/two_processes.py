"""One of several processes that compute on the same planned batches; `test_distributed` starts and compares them."""

import sys
from pathlib import Path

import torch
from accelerate import Accelerator
from safetensors.torch import save_file
from torch import Tensor, nn

from densephrases.nn.phrase_model import PhraseModel
from densephrases.train.loop.loop import Loop, LoopConfig
from densephrases.train.phrases.examples import PassageExample
from densephrases.train.phrases.negatives import GoldPhrases, gather
from densephrases.train.phrases.objective import LossWeights
from densephrases.train.phrases.recipe import PhraseRecipe
from densephrases.train.phrases.sampling import BatchPlan
from densephrases.train.phrases.task import PhraseTask
from densephrases.train.phrases.training_data import TrainingData


def make_task(base: Path, data: Path, world: int = 1) -> PhraseTask:
    """A model without dropout whose losses are sums over questions: the filter's is a mean over tokens."""
    recipe = PhraseRecipe(
        base=base,
        train=(data,),
        dev=data,
        batches=BatchPlan(questions=6),
        weights=LossWeights(tokens=0.0, filter=0.0),
        prebatches=2,
        prebatch_from=0,
        loop=LoopConfig(epochs=2, learning_rate=1e-3, checkpoint_every=3),
    )
    torch.manual_seed(1)
    model = PhraseModel.from_base(base)
    for module in model.modules():
        if isinstance(module, nn.Dropout):
            module.p = 0.0
    task = PhraseTask(recipe, model, TrainingData.prepare(recipe, model.tokens, cpu=True))
    task.prepare(torch.device("cpu"), world, fixed_shapes=False)
    task.begin_epoch(0)
    return task


def batch_losses(task: PhraseTask, rank: int, world: int) -> dict[str, Tensor]:
    """The losses of the first epoch's batches, the queue growing from one to the next."""
    results = {}
    for number, planned in enumerate(task.plan(0)):
        for name, value in task.losses(task.model, task.local(planned, rank, world)).items():
            results[f"{number}.{name}"] = value.detach()
    return results


def lone_passage(task: PhraseTask) -> list[PassageExample]:
    """A planned batch with several questions about one passage."""
    return [max(task.data.examples, key=lambda example: len(example.questions))]


def lone_passage_losses(task: PhraseTask, rank: int, world: int) -> dict[str, Tensor]:
    """The losses of one passage's batch, and the sum of the gradient's absolute values."""
    losses = task.losses(task.model, task.local(lone_passage(task), rank, world))
    gradients = torch.autograd.grad(losses["loss"], list(task.model.passage.parameters()))
    losses["gradient"] = torch.stack([gradient.abs().sum() for gradient in gradients]).sum()
    return {f"lone.{name}": value.detach() for name, value in losses.items()}


def newest_golds(task: PhraseTask) -> int:
    """Phrases that count in the slot filled last."""
    slot = int(task.queue.slot) - 1
    return int(task.queue.ring.valid_N.view(task.queue.batches, -1)[slot].sum())


def gathered_golds(rank: int) -> dict[str, Tensor]:
    """Three gold of process 0 and two of process 1, and what gradient the local ones receive."""
    count = 3 - rank
    numbers = torch.arange(count) + 10 * rank
    vectors = numbers[:, None].float().repeat(1, 4).requires_grad_()
    everything, first = gather(GoldPhrases(vectors, vectors.detach(), numbers, numbers, numbers, numbers, numbers > 0))
    weights = torch.arange(1, len(everything) + 1).float()
    torch.autograd.backward((everything.start_ND * weights[:, None]).sum())
    assert vectors.grad is not None
    return {
        "gathered.numbers": everything.answer_N,
        "gathered.vectors": everything.start_ND.detach(),
        "gathered.first": torch.tensor(first),
        "gathered.valid": everything.valid_N,
        "gathered.gradient": vectors.grad,
    }


def main(base: Path, data: Path, out: Path) -> None:
    accelerator = Accelerator(cpu=True)
    rank, world = accelerator.process_index, accelerator.num_processes
    task = make_task(base, data, world)
    results = batch_losses(task, rank, world) | {name: value.clone() for name, value in task.state().items()}
    results |= lone_passage_losses(task, rank, world) | {"lone.valid": torch.tensor(newest_golds(task))}
    results |= gathered_golds(rank)
    trained = make_task(base, data)
    Loop(trained, trained.recipe.loop, out / "run", cpu=True).run()
    results |= {f"trained.{name}": value.contiguous() for name, value in trained.model.state_dict().items()}
    save_file(results, out / f"{rank}.safetensors")
    accelerator.end_training()


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
