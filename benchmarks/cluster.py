"""What building and serving on Ray cost beside doing it on one machine without.

python benchmarks/cluster.py build [--corpus FILE] [--documents 3000] [--turns 2] [--json FILE]
python benchmarks/cluster.py serve [INDEX QUESTIONS] [--shards 4] [--questions 1000] [--json FILE]
"""

import typer
from cluster_build import build
from cluster_serve import serve

app = typer.Typer(add_completion=False, no_args_is_help=True)

app.command("build")(build)
app.command("serve")(serve)

if __name__ == "__main__":
    app()
