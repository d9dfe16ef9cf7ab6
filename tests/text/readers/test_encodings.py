"""Encodings of short and long texts, and what is no text."""

# ruff: noqa: RUF001

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from densephrases.text.readers.encodings import HEAD, detect_encoding

TEXTS = [
    ("cp1252", "Café Zürich – 5 €"),
    ("cp1252", "Müller"),
    ("cp1252", "naïve"),
    ("cp1252", "Åsa"),
    ("cp1252", "20°C"),
    ("cp1252", "£5, 3½ m², 12 cm³ ± 2 µm, © 2020 ACME®™"),
    ("cp1252", "Der Bürgermeister eröffnete das Schloß für 5.000 € – „ein großer Tag“."),
    ("cp1252", "L’œuvre a été achevée en 1889 ; où est-elle ? À Paris."),
    ("cp1252", "¿Quién construyó la catedral? El señor Núñez."),
    ("latin-1", "Þórður Ægisson býr í Reykjavík og á þrjú börn."),
    ("cp1252", "name;city\r\nJürgen;Köln\r\nFrançois;Orléans\r\n"),
    ("cp1250", "Zamek został zbudowany w roku 1280 przez księcia."),
    ("cp1250", "Česká republika je stát ve střední Evropě. Hlavním městem je Praha."),
    ("cp1250", "Székesfehérvár tűz őr"),
    ("cp1251", "Привет, мир"),
    ("koi8_r", "Привет, мир"),
    ("cp1253", "Η Αθήνα είναι η πρωτεύουσα της Ελλάδας"),
    ("cp1254", "İstanbul'un nüfusu on beş milyondur ve şehir iki kıtaya yayılır."),
    ("cp1256", "القاهرة هي عاصمة مصر"),
    ("cp932", "東京は日本の首都です。"),
    ("gb18030", "北京是中国的首都。"),
    ("big5", "臺北是臺灣的首都。"),
    ("cp949", "서울은 대한민국의 수도이다."),
    *[
        (wide, text)
        for wide in ("utf-16-le", "utf-16-be")
        for text in ("x", "Café – 5 €", "Привет, мир", "東京 は\n日本")
    ],
    *[(marked, "Zürich") for marked in ("utf-8-sig", "utf-16", "utf-32")],
]


@pytest.mark.parametrize(("encoding", "text"), TEXTS)
def test_texts(encoding: str, text: str) -> None:
    content = text.encode(encoding)
    found = detect_encoding(content)
    assert found is not None
    assert content.decode(found) == text


@given(st.text(st.characters(codec="utf-8", exclude_characters="\0\ufeff")))
def test_utf8_is_never_taken_for_another(text: str) -> None:
    assert detect_encoding(text.encode()) == "utf-8"


@pytest.mark.parametrize("cut", [1, 2, 3])
def test_a_character_may_be_cut_by_the_end_of_the_head(cut: int) -> None:
    assert detect_encoding(("x" * 10 + "\U0001f600").encode()[:-cut]) == "utf-8"


def test_a_damaged_character_among_many_does_not_change_the_encoding() -> None:
    assert detect_encoding("Zürich. ".encode() * 30 + b"\xff") == "utf-8"


def test_a_late_accent_decides() -> None:
    assert detect_encoding(b"x " * (HEAD // 2 - 10) + "Zürich".encode("cp1252")) == "cp1252"


@pytest.mark.parametrize(
    "content",
    [
        b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR",
        b"\xff\xd8\xff\xe0\0\x10JFIF\0\x01",
        b"\x7fELF\x02\x01\x01\0\0\0",
        b"PK\x03\x04\x14\0\x06\0\x08\0",
        b"\0",
        bytes(1000),
        b"ab\0c",
        random.Random(1).randbytes(1000),  # noqa: S311
        random.Random(2).randbytes(HEAD).replace(b"\0", b""),  # noqa: S311
    ],
)
def test_what_is_no_text(content: bytes) -> None:
    assert detect_encoding(content) is None
