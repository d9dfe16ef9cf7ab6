"""The bill of materials of what is installed here, and licences that packages declare in three ways."""

from email.message import Message

import pytest

from release import sbom


def test_the_core() -> None:
    first, *others = sbom.components("densephrases", ())
    names = {each.name for each in others}
    assert first.name == "densephrases"
    assert {"numpy", "onnxruntime", "typer"} <= names
    assert "torch" not in names
    assert names < {each.name for each in sbom.components("densephrases", ("client",))}
    references = [each.url.partition("@")[0] for each in others]
    assert references == sorted(references)


def test_the_bill() -> None:
    found = sbom.components("densephrases", ())
    bill = sbom.bill(found)
    assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.6")
    assert bill["metadata"]["component"]["name"] == "densephrases"
    references = {each["bom-ref"] for each in [bill["metadata"]["component"], *bill["components"]]}
    assert len(references) == len(found)
    depend = {each["ref"]: each["dependsOn"] for each in bill["dependencies"]}
    assert depend.keys() == references
    assert {each for several in depend.values() for each in several} <= references
    assert any(each.startswith("pkg:pypi/faiss-cpu@") for each in depend[found[0].url])


@pytest.mark.parametrize(
    ("headers", "licence"),
    [
        ({"License-Expression": "MIT", "License": "x"}, "MIT"),
        ({"License": "BSD-3-Clause"}, "BSD-3-Clause"),
        (
            {"License": "MIT License\n\nPermission ...", "Classifier": "License :: OSI Approved :: MIT License"},
            "MIT License",
        ),
        ({"License": "Own Licence\ntext"}, "Own Licence"),
        ({}, "unknown"),
    ],
)
def test_licences(headers: dict[str, str], licence: str) -> None:
    about = Message()
    for name, value in headers.items():
        about[name] = value
    assert sbom.licence_of(about) == licence


def test_the_table() -> None:
    one = sbom.Component("a", "1", "MIT", ())
    assert sbom.table([one, sbom.Component("b", "2", "BSD", ())]) == [
        "| package | licence |",
        "|---|---|",
        "| b | BSD |",
    ]
