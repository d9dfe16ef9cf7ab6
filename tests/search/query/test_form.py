"""Questions by their form."""

import pytest

from densephrases.search.query.form import Form, form_of

EXAMPLES: dict[Form, list[str]] = {
    "sentence": [
        "What does `--depth` do?",
        "what does --onto do in git rebase?",
        "How do I squash commits?",
        "Why does vacuum need to run?",
        "Explain the difference between merge and rebase",
        "What is the purpose of autovacuum?",
        "what is hot standby for?",
        "Can I clone a part of the history?",
        "Is the index exact?",
        "what happens if the disk is full?",
        "What is --depth?",
        "what does -x mean?",
        "Please describe the folder.",
    ],
    "phrase": [
        "Who built the tower?",
        "When was the Battle of Hastings?",
        "Where did Jane Goodall start to watch chimpanzees?",
        "How many gold medals did Jesse Owens win?",
        "How deep is Lake Baikal?",
        "Which farmer was the first to see it?",
        "What is the default value of work_mem?",
        "default of work_mem",
        "What is the capital of France?",
        "What does the name Lego mean?",
        "In which year was it?",
        "What is the type of --depth?",
        "The tower was built by whom?",
        "the rent?",
    ],
    "list": [
        "list the log levels",
        "Which log levels are there?",
        "what formats are supported?",
        "What are the planets?",
        "Name all options of pg_dump",
        "Tell me: what kinds of index exist?",
    ],
    "keywords": ["shallow clone", "git-rebase manual", "capital of France", "README of project A", "work_mem"],
}


@pytest.mark.parametrize(("form", "question"), [(form, each) for form, several in EXAMPLES.items() for each in several])
def test_forms(form: Form, question: str) -> None:
    assert form_of(question) == form
