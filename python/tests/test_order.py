"""The modules of the package stand in an order: each imports modules in front of it only."""

import ast
import pathlib

import gpuframe

#: From the library in C up to queries.
ORDER = """
errors _types _literals _floats _times _library _native _held devices
_tensors _arrow _arrays _elements _functions _values column _columns _verbs charts table
files folders sharing _calls progress _runs expressions lazy sources statements preprocessing loaders dbapi __init__ __main__
""".split()

#: A method that makes an object of a later module imports it when it is called.
LATER = {("_values", "expressions"), ("_values", "table"), ("table", "sources"), ("lazy", "statements")}


def imports(path):
    """Return the modules of the package that a module imports, but for those of annotations."""
    tree = ast.parse(path.read_text())
    annotations = [node for node in ast.walk(tree) if isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING"]
    skipped = {inner for node in annotations for branch in node.body for inner in ast.walk(branch)}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level and node not in skipped:
            yield from [node.module] if node.module else [each.name for each in node.names]


def test_modules_import_modules_in_front_of_them():
    folder = pathlib.Path(gpuframe.__file__).parent
    paths = {path.stem: path for path in folder.glob("*.py")}
    assert sorted(paths) == sorted(ORDER)
    upwards = {(name, other) for name, path in paths.items() for other in imports(path) if ORDER.index(other) >= ORDER.index(name)}
    assert upwards == LATER
