"""A sign and a style for each verdict: never the only mark, but beside the word."""

from __future__ import annotations

from lvslab.verify.result import Verdict

SIGNS = {Verdict.PASS: "✓", Verdict.FAIL: "✗", Verdict.SKIP: "–", Verdict.ERROR: "!"}
ASCII_SIGNS = {Verdict.PASS: "+", Verdict.FAIL: "x", Verdict.SKIP: "-", Verdict.ERROR: "!"}
STYLES = {Verdict.PASS: "green", Verdict.FAIL: "bold red", Verdict.SKIP: "yellow", Verdict.ERROR: "bold magenta"}
