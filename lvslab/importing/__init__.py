"""Directors' configurations as people have them: read, judged line by line, and made into topologies."""

from lvslab.importing.configuration import Configuration, Format
from lvslab.importing.finding import Finding, Note
from lvslab.importing.read import read_configuration
from lvslab.importing.recognise import recognise
from lvslab.importing.rules import judge
from lvslab.importing.topology_text import topology_text

__all__ = [
    "Configuration",
    "Finding",
    "Format",
    "Note",
    "judge",
    "read_configuration",
    "recognise",
    "topology_text",
]
