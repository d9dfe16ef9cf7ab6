"""The layout of the package: where modules, their tests and heavy imports may be."""

import ast
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

import densephrases

PACKAGE = Path(densephrases.__file__).parent
TESTS = Path(__file__).parent
MOST_MODULES = 14  # in one folder
TORCH_FOLDERS = ("nn", "train")

# Modules without a test file of their own, and the file that tests them through what uses them.
COVERED_BY = {
    "__main__": "cli/test_main",
    "cli/cluster/address": "cluster/build/test_cluster_build",
    "cli/cluster/stop": "cluster/serve/test_ray_serving",
    "cluster/serve/deployments": "cluster/serve/test_ray_serving",
    "cluster/serve/ingress": "cluster/serve/test_ray_serving",
    "cluster/serve/local_copy": "cluster/serve/test_ray_serving",
    "cluster/serve/ray_shards": "cluster/serve/test_hedged_calls",
    "cluster/serve/ray_versions": "cluster/serve/test_ray_serving",
    "cluster/serve/settings": "cluster/serve/test_rollout",
    "cluster/sharding/messages": "cluster/sharding/test_shard_retriever",
    "cluster/sharding/sent_texts": "cluster/sharding/test_shard_retriever",
    "cluster/sharding/shard": "cluster/sharding/test_shard_retriever",
    "cluster/sharding/shard_retrieval": "cluster/sharding/test_shard_retriever",
    "cluster/sharding/shards": "cluster/sharding/test_sharded_index",
    "search/answering_index": "search/test_phrase_index",
    "search/retrieval/retriever": "search/test_searcher",
    "search/retrieval/segment_retriever": "search/test_searcher",
    "search/scoring/term_counts": "search/scoring/test_lexical",
    "cli/cluster/build": "cli/test_cluster",
    "cli/show/cluster_build": "cli/test_cluster",
    "cluster/build/encoder_actor": "cluster/build/test_cluster_build",
    "cluster/build/final_segments": "cluster/build/test_cluster_build",
    "cluster/build/build_area": "cluster/build/test_cluster_build",
    "cluster/build/segment_files": "cluster/build/test_cluster_build",
    "cluster/storage/base": "cluster/storage/test_remote",
    "cluster/storage/local": "cluster/storage/test_remote",
    "cluster/storage/places": "cluster/storage/test_remote",
    "cluster/storage/transient": "cluster/storage/test_remote",
    "cli/article_index": "cli/tune/test_confidence",
    "cli/encoding": "cli/eval/test_reading",
    "cli/extras": "cli/test_main",
    "cli/generate/answers": "cli/test_generate",
    "cli/generate/distant": "cli/test_generate",
    "cli/generate/filter_questions": "cli/test_generate",
    "cli/generate/join_passages": "cli/test_generate",
    "cli/generate/options": "cli/test_generate",
    "cli/generate/progress": "cli/test_generate",
    "cli/generate/questions": "cli/test_generate",
    "cli/generate/strip_passages": "cli/test_generate",
    "cli/indexes/add": "cli/indexes/test_index",
    "cli/show/skipped": "cli/indexes/test_sync",
    "index/sync/known_files": "index/sync/test_folder_sync",
    "index/sync/options": "index/sync/test_folder_sync",
    "cli/indexes/changes": "cli/indexes/test_index",
    "cli/indexes/check": "cli/indexes/test_index",
    "cli/indexes/delete": "cli/indexes/test_index",
    "cli/indexes/info": "cli/indexes/test_index",
    "cli/indexes/optimize": "cli/indexes/test_index",
    "cli/indexes/update": "cli/indexes/test_index",
    "cli/serving/mcp": "integrations/test_mcp",
    "cli/serving/service_options": "cli/serving/test_serve",
    "cli/options": "cli/test_main",
    "cli/show/training": "cli/test_train",
    "cli/train/average": "train/test_average",
    "cli/train/by_recipe": "cli/test_train",
    "cli/train/options": "cli/test_train",
    "cli/train/queries": "cli/test_train",
    "data/questions": "evaluate/test_open_domain",
    "errors": "test_package",
    "evaluate/extra": "evaluate/test_retrieval",
    "index/build/builder": "index/test_folder",
    "index/build/merge": "index/test_folder",
    "index/build/touched": "index/sync/test_folder_sync",
    "index/build/tokenizer_pool": "index/build/test_gpu_pipeline",
    "index/candidates/base": "index/candidates/test_exact",
    "index/candidates/ivf_training": "index/candidates/test_ivf",
    "index/candidates/passages": "index/candidates/test_passage_lists",
    "index/candidates/cluster_training": "index/candidates/test_clusters",
    "index/files/lock": "index/test_folder",
    "index/former_manifest": "index/test_former_versions",
    "index/info": "index/test_folder",
    "index/kinds": "index/test_folder",
    "index/cancellation": "search/test_deadline",
    "index/progress": "cli/indexes/test_index",
    "index/segment/document_keys": "index/build/test_chunks",
    "index/segment/files": "index/test_own_files",
    "index/segment/incoming": "index/build/test_chunks",
    "index/segment/reader": "index/test_folder",
    "index/segment/token_rows": "index/build/test_gpu_pipeline",
    "index/segment/writer": "index/build/test_gpu_pipeline",
    "index/vectors/centroids": "index/vectors/test_store",
    "index/vectors/encoded": "index/vectors/test_store",
    "model/bulk_encoder": "index/build/test_gpu_pipeline",
    "model/card": "train/test_average",
    "model/precision": "model/test_onnx",
    "model/tasks": "nn/test_adapted_folder",
    "nn/passage_tower": "nn/gpu/test_encoder",
    "nn/towers": "train/phrases/test_objective",
    "quantize/base": "quantize/test_product",
    "search/collection/collection": "search/test_phrase_index",
    "search/answers": "search/test_searcher",
    "search/explain/explanation": "search/explain/test_score_parts",
    "reproduce/ablation": "reproduce/test_table",
    "reproduce/asking": "reproduce/test_table",
    "reproduce/negative_samples": "reproduce/test_table",
    "reproduce/open_questions": "reproduce/test_table",
    "reproduce/query_tuning": "reproduce/test_table",
    "reproduce/reading_comprehension": "reproduce/test_table",
    "reproduce/slots": "reproduce/test_table",
    "reproduce/smoke": "reproduce/test_table",
    "reproduce/speed": "reproduce/test_table",
    "reproduce/training": "reproduce/test_table",
    "nn/random_base": "reproduce/test_table",
    "serve/api/schemas": "serve/api/test_openapi",
    "serve/runtime/page_files": "serve/api/test_pages",
    "text/readers/markdown_inline": "text/readers/test_markdown",
    "text/readers/pages/flow": "text/readers/pages/test_html",
    "text/readers/pages/html_parts": "text/readers/pages/test_html",
    "text/readers/pages/html_walk": "text/readers/pages/test_html",
    "text/readers/pages/pdf_file": "text/readers/pages/test_pdf",
    "text/readers/pages/pdf_scan": "text/readers/pages/test_pdf",
    "train/phrases/training_data": "train/phrases/test_task",
    "train/queries/adaptation": "train/test_fit",
    "train/queries/run": "train/queries/test_task",
    "train/queries/target": "train/queries/test_relevance",
    "version": "test_package",
}

# File names that several folders have, and why each is clear there. Commands are named by the user's words, not here.
SHARED_NAMES = {
    "answers": "search finds them, serve/api answers requests with them",
    "base": "the base class of its folder's kinds",
    "calibration": "of int8 graphs in nn/onnx, of confidences in evaluate/tune",
    "checkpoint": "nn loads one, train/loop writes and resumes one",
    "confidence": "search predicts it, evaluate/tune fits it",
    "documents": "text defines them, serve/api has the requests that change them",
    "encoder": "model encodes on a CPU, nn/gpu on a GPU",
    "files": "text/readers opens them, data finds question files",
    "info": "what an index contains, and the route that shows it",
    "passages": "text splits documents into them, search reads them back",
    "quantizer": "nn/gpu applies it, evaluate/tune chooses it",
    "question_generator": "nn has the network, train its training",
    "reader": "nn has the network, train its training; index/segment reads a segment",
    "recipe": "of a training run of train/phrases and of train/queries",
    "plan": "of a cluster build, and of a table of reproduce",
    "fetch": "of an index out of a store, and of published data",
    "settings": "of an index, of the service and of a service on a cluster",
    "task": "what train/phrases and train/queries train",
}


def modules() -> Iterator[Path]:
    """Paths below the package, without suffix."""
    for path in sorted(PACKAGE.rglob("*.py")):
        if path.name != "__init__.py":
            yield path.relative_to(PACKAGE).with_suffix("")


def has_mirror(module: Path) -> bool:
    return (TESTS / module.parent / f"test_{module.name}.py").is_file()


def test_every_module_has_a_test_file_or_is_named_as_covered() -> None:
    uncovered = {module.as_posix() for module in modules() if not has_mirror(module)}
    assert uncovered == COVERED_BY.keys()


def test_the_covering_files_exist() -> None:
    assert [name for name in COVERED_BY.values() if not (TESTS / f"{name}.py").is_file()] == []


def test_no_folder_is_crowded() -> None:
    sizes = Counter(module.parent.as_posix() for module in modules())
    assert {folder: size for folder, size in sizes.items() if size > MOST_MODULES} == {}


def test_every_folder_says_what_may_be_in_it() -> None:
    folders = {PACKAGE / module.parent for module in modules()}
    silent = [folder for folder in folders if not ast.get_docstring(ast.parse((folder / "__init__.py").read_text()))]
    assert silent == []


def test_file_names_are_unique_or_made_so_by_their_folder() -> None:
    places = defaultdict(list)
    for module in modules():
        if module.parts[0] != "cli":
            places[module.name].append(module.as_posix())
    assert {name for name, found in places.items() if len(found) > 1} == SHARED_NAMES.keys()


def imported(tree: ast.AST) -> Iterator[str]:
    """Top-level packages of all imports, also of those inside functions."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield (node.module or "").partition(".")[0]


def test_imports() -> None:
    """torch in `nn` and `train` alone, and nothing imported by a string."""
    for module in modules():
        source = (PACKAGE / module).with_suffix(".py").read_text()
        assert "import_module" not in source, module
        assert "__import__" not in source, module
        if module.parts[0] not in TORCH_FOLDERS:
            assert "torch" not in imported(ast.parse(source)), module
