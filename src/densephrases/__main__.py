"""`python -m densephrases` is the command `densephrases`."""

from densephrases.cli.main import main

main()
