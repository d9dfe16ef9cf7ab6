"""Common relations: how to ask for them, what their objects look like, and which words state them.

A model finds some phrase for every question. What is no date, stands in no place where a place stands, or is in a
sentence that says nothing of the relation, is no object of it.
"""

import re
from dataclasses import dataclass
from typing import Literal

from densephrases.search.answers import Answer

Shape = Literal["date", "place", "name", "number", "any"]
"""What an object looks like; a name is that of a person, an organisation or a thing."""

_MONTH = r"(?:jan|febr?|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec)[a-z]*\.?"
_DATE = re.compile(
    rf"\b(?:\d{{3,4}}|\d{{1,2}} {_MONTH}|{_MONTH} \d{{1,2}}|\d+(?:st|nd|rd|th) century)\b|\b(?:BC|AD)\b", re.I
)
_NUMBER = re.compile(
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozen|hundred|thousand|million|billion)\b",
    re.I,
)
_ARTICLE = re.compile(r"^(?:the|an?)\s+", re.I)
_BEFORE_PLACE = re.compile(
    r"(?:\b(?:in|at|near|from|of|to|on|outside|around|by|between|beside|within|is|was|called|named|city|town|village)"
    r"(?:\s+(?:the|a|an|\w+ern|then|now|what is now))?|[,(])\s*[\"“']?$",
    re.I,
)
_DASH_BEFORE = re.compile(r"[-–—]\s*(?:c\.\s*|circa\s+)?$")  # noqa: RUF001
_DASH_AFTER = re.compile(r"^\s*(?:\([^)]*\)\s*)?[-–—]")  # noqa: RUF001


@dataclass(frozen=True, slots=True)
class Relation:
    """Attributes:
    names: What it is called, in lower case.
    questions: With {subject}; the best answer to any of them counts.
    shape: Of its objects.
    stated: Words one of which is in every sentence that states it, as a regular expression.
    life: Whether it is the first or the last date of a life, which brackets after a name give without words.
    """

    names: tuple[str, ...]
    questions: tuple[str, ...]
    shape: Shape
    stated: str
    life: Literal["", "birth", "death"] = ""

    def admits(self, answer: Answer) -> bool:
        """Whether an answer can be an object of the relation, by its shape and by the words around it."""
        begin = answer.phrase.start - answer.sentence_start
        before, after = answer.sentence[:begin], answer.sentence[begin + len(answer.phrase.text) :]
        return self._has_shape(answer, before) and self._is_stated(answer.sentence, before, after)

    def _has_shape(self, answer: Answer, before: str) -> bool:
        text = answer.phrase.text
        match self.shape:
            case "date":
                return _DATE.search(text) is not None
            case "number":
                return _NUMBER.search(text) is not None
            case "place":
                return (
                    _is_named(text, answer.sentence) and not _DATE.search(text) and bool(_BEFORE_PLACE.search(before))
                )
            case "name":
                return _is_named(text, answer.sentence) and not _DATE.search(text)
        return True

    def _is_stated(self, sentence: str, before: str, after: str) -> bool:
        begins_range, ends_range = bool(_DASH_AFTER.search(after)), bool(_DASH_BEFORE.search(before))
        if self.life == "birth" and (begins_range or ends_range):
            return begins_range
        if self.life == "death" and (begins_range or ends_range):
            return ends_range
        return re.search(rf"\b(?:{self.stated})", sentence, re.IGNORECASE) is not None


def _is_named(text: str, sentence: str) -> bool:
    """Whether it has a word in capitals; text in lower case, or in a script without capitals, does not tell."""
    words = _ARTICLE.sub("", text).split()
    return sentence == sentence.lower() or any(not word.lstrip("\"'“(")[:1].islower() for word in words)


def known_relation(name: str) -> Relation | None:
    """The relation of this name, however it is written; None if it is not in the table."""
    return _BY_NAME.get(" ".join(name.lower().replace("_", " ").replace("-", " ").split()))


RELATIONS = (
    Relation(
        ("place of birth", "birthplace", "birth place", "born in", "place born"),
        ("where was {subject} born?", "in which city was {subject} born?"),
        "place",
        "born|birth|birthplace|native",
    ),
    Relation(
        ("date of birth", "birth date", "birthdate", "birthday", "year of birth", "born"),
        ("when was {subject} born?",),
        "date",
        "born|birth",
        "birth",
    ),
    Relation(
        ("date of death", "death date", "year of death", "died"),
        ("when did {subject} die?",),
        "date",
        "died|dies|death|killed|executed|assassinated|murdered|drowned|disappeared",
        "death",
    ),
    Relation(
        ("place of death", "death place", "died in"),
        ("where did {subject} die?",),
        "place",
        "died|dies|death|killed|executed|assassinated|murdered|drowned|disappeared",
    ),
    Relation(
        ("cause of death", "manner of death"),
        ("what did {subject} die of?", "what was the cause of death of {subject}?"),
        "any",
        "died|dies|death|killed|suffer",
    ),
    Relation(
        ("place of burial", "burial place", "buried in", "resting place"),
        ("where is {subject} buried?",),
        "place",
        "buried|interred|entombed|burial|grave|tomb|laid to rest",
    ),
    Relation(
        ("spouse", "husband", "wife", "married to", "partner"),
        ("who was {subject} married to?", "who did {subject} marry?"),
        "name",
        "married|marri|wife|husband|spouse|wed\\b|wedded|widow|marries|divorced",
    ),
    Relation(
        ("father",),
        ("who was the father of {subject}?",),
        "name",
        "father|son of|daughter of|child of|parents|born to|son|daughter",
    ),
    Relation(
        ("mother",),
        ("who was the mother of {subject}?",),
        "name",
        "mother|son of|daughter of|child of|parents|born to|wife",
    ),
    Relation(
        ("child", "children"),
        ("who was the child of {subject}?",),
        "name",
        "child|son|daughter|father of|mother of|born to",
    ),
    Relation(
        ("employer", "employed by", "worked for", "works for", "workplace"),
        ("which company or institution did {subject} work for?", "where did {subject} work?"),
        "name",
        "work|employ|job|hired|joined|staff|served|professor|taught|teaching|position|engineer at|director|faculty",
    ),
    Relation(
        ("educated at", "alma mater", "education", "university", "school"),
        ("which university did {subject} attend?", "where was {subject} educated?"),
        "name",
        "educat|stud|attend|graduat|degree|enrol|school|college|university|phd|doctorate|alumn",
    ),
    Relation(
        ("capital", "capital city"),
        ("what is the capital of {subject}?",),
        "name",
        "capital",
    ),
    Relation(
        ("population", "number of inhabitants", "inhabitants"),
        ("what is the population of {subject}?", "how many people live in {subject}?"),
        "number",
        "population|people|inhabitants|residents|populated|live in|lived in",
    ),
    Relation(
        ("country", "located in country", "country of location"),
        ("in which country is {subject}?",),
        "name",
        "in|of|from|country|near",
    ),
    Relation(
        ("location", "located in", "place"),
        ("where is {subject} located?",),
        "place",
        "in|at|on|near|located|situated|lies|between",
    ),
    Relation(
        ("currency",),
        ("what is the currency of {subject}?",),
        "any",
        "currenc|money|coin|legal tender|dollar|euro|pound|kron|króna",
    ),
    Relation(
        ("official language", "language"),
        ("what is the official language of {subject}?",),
        "name",
        "language|speak|spoken",
    ),
    Relation(
        ("author", "written by", "writer"),
        ("who wrote {subject}?", "who is the author of {subject}?"),
        "name",
        "author|wrot|writ|book|novel|poem|play|publish",
    ),
    Relation(
        ("composer", "composed by", "music by"),
        ("who composed {subject}?",),
        "name",
        "compos|music|score|opera|symphony",
    ),
    Relation(
        ("director", "directed by"),
        ("who directed {subject}?",),
        "name",
        "direct",
    ),
    Relation(
        ("founder", "founded by", "founders"),
        ("who founded {subject}?", "who is the founder of {subject}?"),
        "name",
        "found|establish|start|began|creat|set up|workshop of|instituted",
    ),
    Relation(
        ("date founded", "inception", "founding date", "foundation", "founded", "established"),
        ("when was {subject} founded?",),
        "date",
        "found|establish|start|began|creat|set up|incorporated|built|instituted",
    ),
    Relation(
        ("headquarters", "headquarters location", "based in"),
        ("where is the headquarters of {subject}?", "where is {subject} based?"),
        "place",
        "headquarter|based|seat|office",
    ),
    Relation(
        ("inventor", "invented by", "discoverer or inventor"),
        ("who invented {subject}?",),
        "name",
        "invent|patent|develop|creat|devis|design",
    ),
    Relation(
        ("discoverer", "discovered by"),
        ("who discovered {subject}?",),
        "name",
        "discover|found|first|identif|isolat|observ",
    ),
    Relation(
        ("architect", "designer", "designed by"),
        ("who was the architect of {subject}?", "who designed {subject}?"),
        "name",
        "architect|design|plan|built by|drew",
    ),
    Relation(
        ("height", "elevation"),
        ("how high is {subject}?", "how tall is {subject}?"),
        "number",
        "height|high|tall|elevation|metre|meter|feet|\\d m\\b|\\d ft",
    ),
    Relation(
        ("length",),
        ("how long is {subject}?",),
        "number",
        "long|length|km|kilomet|mile|metre|meter|feet",
    ),
    Relation(
        ("area", "surface area"),
        ("what is the area of {subject}?",),
        "number",
        "area|km|square|hectare|acre",
    ),
    Relation(
        ("depth",),
        ("how deep is {subject}?",),
        "number",
        "deep|depth",
    ),
    Relation(
        ("opening date", "opened", "date of opening"),
        ("when was {subject} opened?",),
        "date",
        "open|inaugurat",
    ),
    Relation(
        ("launch date", "launched", "date of launch"),
        ("when was {subject} launched?",),
        "date",
        "launch",
    ),
)

_BY_NAME = {name: relation for relation in RELATIONS for name in relation.names}
