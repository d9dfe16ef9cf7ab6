"""A real browser, and the page as a person sees it."""

import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from selenium import webdriver
from selenium.common.exceptions import StaleElementReferenceException
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement

PROGRAMS = ("chromium", "chromedriver")
MISSING = "needs Chromium and its driver: apt-get install chromium chromium-driver, or your system's packages of them"
_FLAGS = (
    "--headless=new",
    "--no-sandbox",  # which refuses to work for root, as in a container
    "--disable-gpu",
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--hide-scrollbars",
)
_SECONDS = 20.0


def is_installed() -> bool:
    return all(map(shutil.which, PROGRAMS))


@contextmanager
def chromium() -> Iterator[webdriver.Chrome]:
    options = webdriver.ChromeOptions()
    options.binary_location, driver = (str(shutil.which(program)) for program in PROGRAMS)
    for flag in _FLAGS:
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    browser = webdriver.Chrome(options=options, service=Service(driver))
    try:
        yield browser
    finally:
        browser.quit()


class Page:
    """What a person does with the page, and what there is to see."""

    def __init__(self, browser: webdriver.Chrome, address: str) -> None:
        self.browser = browser
        self.address = address

    def open(self, fragment: str = "") -> None:
        self.browser.get("about:blank")  # a new fragment alone would not load the page anew
        self.browser.get(f"{self.address}/{fragment}")

    def look(self, *, width: int = 1200, height: int = 900, dark: bool = False, scale: float = 1) -> None:
        size = {"width": width, "height": height, "deviceScaleFactor": scale, "mobile": width < 600}
        self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})

    def all(self, selector: str) -> list[WebElement]:
        return self.browser.find_elements(By.CSS_SELECTOR, selector)

    def one(self, selector: str) -> WebElement:
        """Waits until it is to be seen."""
        found: list[WebElement] = []

        def is_there() -> bool:
            with suppress(StaleElementReferenceException):  # replaced while we look
                found[:] = [each for each in self.all(selector) if each.is_displayed()]
            return bool(found)

        self.wait(is_there, selector)
        return found[0]

    def texts(self, selector: str) -> list[str]:
        found: list[str] = self.run(
            "return [...document.querySelectorAll(arguments[0])].map(e => e.textContent)", selector
        )
        return found

    def run(self, script: str, *arguments: Any) -> Any:
        return self.browser.execute_script(script, *arguments)

    def wait(self, condition: Callable[[], object], what: str) -> None:
        until = time.monotonic() + _SECONDS
        while not condition():
            assert time.monotonic() < until, f"In vain waited for {what}. The page: {self.texts('main')}"
            time.sleep(0.02)

    def wait_for_text(self, selector: str, text: str) -> None:
        self.wait(lambda: any(text in each for each in self.texts(selector)), f"{text!r} in {selector}")

    def ask(self, question: str) -> None:
        box = self.one("#question")
        box.clear()
        box.click()
        self.browser.execute_cdp_cmd("Input.insertText", {"text": question})  # keys have no emoji in some drivers

    def press(self, *keys: str) -> None:
        for key in keys:
            self.browser.switch_to.active_element.send_keys(getattr(Keys, key, key))

    @property
    def focused(self) -> str:
        """Text or id of what has the focus."""
        return str(self.run("const e = document.activeElement; return e.id || e.textContent"))

    @property
    def fragment(self) -> str:
        return str(self.run("return decodeURIComponent(location.hash.replaceAll('+', ' '))"))

    @property
    def is_wider_than_the_screen(self) -> bool:
        return bool(self.run("return document.documentElement.scrollWidth > innerWidth"))

    def complaints(self) -> list[str]:
        """Of the browser, about anything but requests that failed or were refused, as they may."""
        lines: list[dict[str, str]] = self.browser.get_log("browser")  # type: ignore[no-untyped-call]
        return [line["message"] for line in lines if line["source"] != "network"]
