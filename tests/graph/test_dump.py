"""``dump_backward_graph_path``: files of a pass; and drawings with ``display.dot``."""

import re

import numpy as np
import pytest

import numgrad as ng
from numgrad._errors import ArgTypeError, NoGradError
from numgrad.engine.lower import lower as programs
from numgrad.engine.record.apply import deferring
from numgrad.graph import get_gradient_edge
from numgrad.targets.null import NullTarget

NAMES = ["backward_graph.dot", "call_stack.log", "ref_forward_graph.dot"]


def leaf(*shape):
    return ng.tensor(np.ones(shape), requires_grad=True)


def read(directory):
    """Return the three files of the only dump, by the end of their names."""
    files = {re.sub(r"^.*?\.\d{6}_", "", f.name): f.read_text("utf-8") for f in directory.iterdir()}
    assert sorted(files) == NAMES
    return files


def boxes(text):
    """Return the boxes of a drawing as (name, second line, color)."""
    pattern = r'^node_\d+\[label="(.*?)\\n(.*?)" .*?color="(.*?)"'
    return re.findall(pattern, text, re.MULTILINE)


def arrows(text):
    """Return the arrows of a drawing as (from, to, label), with names for numbers."""
    names = dict(re.findall(r'^node_(\d+)\[label="(.*?)\\n', text, re.MULTILINE))
    found = re.findall(r'^node_(\d+)->node_(\d+)\[label="(.*?)"\]', text, re.MULTILINE)
    return [(names[a], names[b], label) for a, b, label in found]


# Files and directories ---------------------------------------------------------------------------


def test_every_call_adds_three_files(tmp_path):
    x = leaf(2)
    for _ in range(2):
        ng.grad(x * x, x, dump_backward_graph_path=str(tmp_path))
    ng.backward(x * x, dump_backward_graph_path=str(tmp_path) + "/")
    names = sorted(path.name for path in tmp_path.iterdir())
    stamp = r"\d{4}-\d\d-\d\d_\d\d[:-]\d\d[:-]\d\d\.\d{6}"
    matches = [re.fullmatch(rf"({stamp})_({'|'.join(NAMES)})", name) for name in names]
    assert all(matches)
    assert len({match[1] for match in matches}) == 3
    assert [match[2] for match in matches] == NAMES * 3


def test_a_missing_directory_is_made(tmp_path):
    x = leaf(2)
    ng.grad(x * x, x, dump_backward_graph_path=str(tmp_path / "a" / "b"))
    read(tmp_path / "a" / "b")


def test_path_errors_come_before_the_pass(tmp_path):
    file = tmp_path / "file"
    file.write_text("")
    x = leaf(2)
    y = x * x
    with pytest.raises(NotADirectoryError, match="must be directory"):
        ng.grad(y, x, dump_backward_graph_path=str(file))
    for path in (str(file / "below"), ""):
        with pytest.raises(OSError, match=f"Create '{path}' failed"):
            ng.backward(y, dump_backward_graph_path=path)
    for wrong in (3, tmp_path):
        with pytest.raises(ArgTypeError, match="string") as caught:
            ng.grad(y, x, dump_backward_graph_path=wrong)
        assert isinstance(caught.value, AssertionError)
    assert x.grad is None
    ng.grad(y, x)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_failing_pass_writes_no_file(tmp_path):
    x = leaf(2)
    x.register_hook(lambda g: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        ng.grad(x * x, x, dump_backward_graph_path=str(tmp_path))
    assert list(tmp_path.iterdir()) == []


def test_a_dump_that_cannot_be_written_leaves_the_graph_and_grad_as_they_were(
    tmp_path, monkeypatch
):
    from numgrad._autograd import dump

    def fail(self, seeds, outcome):
        raise OSError("disk full")

    monkeypatch.setattr(dump.Writer, "write", fail)
    x = leaf(2)
    y = x * x
    with pytest.raises(OSError, match="disk full"):
        ng.grad(y, x, set_grad=True, dump_backward_graph_path=str(tmp_path))
    with pytest.raises(OSError, match="disk full"):
        ng.backward(y, dump_backward_graph_path=str(tmp_path))
    assert x.grad is None
    ng.grad(y, x)


# Contents ----------------------------------------------------------------------------------------


def test_backward_graph(tmp_path):
    x = leaf(2, 3)
    h = x * 2.0
    ng.grad(h * h, x, dump_backward_graph_path=str(tmp_path))
    text = read(tmp_path)["backward_graph.dot"]
    assert text.startswith("digraph G {\n")
    assert text.endswith("} // end G\n")
    first = text.splitlines()[1]
    assert re.fullmatch(
        r'node_\d+\[label="multiplyGradNode\\nPtr: 0x[0-9a-f]+" style="rounded,filled,bold" '
        r'shape="box" color="#999999" fontcolor="#ffffff" width="1.3" height="0.84" '
        r'fontname="Arial"\]',
        first,
    )
    assert [(name, color) for name, _, color in boxes(text)] == [
        ("multiplyGradNode", "#999999"),
        ("multiplyGradNode", "#999999"),
        ("GradNodeAccumulation", "#148b97"),
    ]
    label = r"Place(cpu)\nfloat64[2, 3]"
    assert arrows(text) == [
        ("multiplyGradNode", "multiplyGradNode", label),
        ("multiplyGradNode", "multiplyGradNode", label),
        ("multiplyGradNode", "GradNodeAccumulation", label),
    ]


def test_forward_graph_is_the_same_graph_turned_around(tmp_path):
    x = leaf(2, 3)
    ng.grad(x * 2.0, x, dump_backward_graph_path=str(tmp_path))
    files = read(tmp_path)
    text = files["ref_forward_graph.dot"]
    assert [name for name, _, _ in boxes(text)] == ["multiply", "Node"]
    assert arrows(text) == [("Node", "multiply", "float64 [2, 3]")]
    pointers = [second.removeprefix("Ptr: ") for _, second, _ in boxes(files["backward_graph.dot"])]
    assert [second for _, second, _ in boxes(text)] == [f"GradNode: {p}" for p in pointers]


def test_only_what_takes_part_is_drawn_and_a_captured_node_is_a_boundary(tmp_path):
    x, z = leaf(2), leaf(2)
    h, k = x * 2.0, z * 3.0
    ng.grad(h + k, h, dump_backward_graph_path=str(tmp_path))
    text = read(tmp_path)["backward_graph.dot"]
    assert [(name, color) for name, _, color in boxes(text)] == [
        ("addGradNode", "#999999"),
        ("multiplyGradNode", "orange"),
    ]
    assert len(arrows(text)) == 1


def test_files_are_written_when_every_result_is_none(tmp_path):
    x, z = leaf(2), leaf(2)
    result = ng.grad(x * 2.0, z, allow_unused=True, dump_backward_graph_path=str(tmp_path))
    assert result == (None,)
    text = read(tmp_path)["backward_graph.dot"]
    assert [name for name, _, _ in boxes(text)] == ["multiplyGradNode"]


def test_call_stacks_are_recorded_on_request(tmp_path):
    def plain(x):
        return x * 2.0

    def watched(y):
        return y * 3.0

    x = leaf(2)
    y = plain(x)
    ng.set_flags(call_stack_level=3)
    try:
        z = watched(y)
    finally:
        ng.set_flags(call_stack_level=1)
    ng.grad(z, x, dump_backward_graph_path=str(tmp_path))
    note, *lines = read(tmp_path)["call_stack.log"].splitlines()
    assert "call_stack_level=3" in note
    headings = [line for line in lines if line.startswith("GradNodeBase")]
    assert [re.sub("0x[0-9a-f]+", "P", line) for line in headings] == [
        "GradNodeBase multiplyGradNode ptr : P call stack: ",
        "GradNodeBase multiplyGradNode ptr : P call stack: ",
        "GradNodeBase GradNodeAccumulation ptr : P call stack: ",
    ]
    text = "\n".join(lines)
    assert "return y * 3.0" in text
    assert "return x * 2.0" not in text
    assert "numgrad/engine" not in text


def test_bodies_are_the_same_for_the_same_graph(tmp_path):
    texts = []
    for name in "ab":
        x = leaf(2)
        h = x * x
        ng.grad(h * x + h, x, dump_backward_graph_path=str(tmp_path / name))
        text = read(tmp_path / name)["backward_graph.dot"]
        texts.append((arrows(text), [box[::2] for box in boxes(text)]))
    assert texts[0] == texts[1]


def test_a_batched_pass_is_dumped_too(tmp_path):
    x = leaf(2)
    ng.grad(x * x, x, np.eye(2), is_grads_batched=True, dump_backward_graph_path=str(tmp_path))
    assert len(boxes(read(tmp_path)["backward_graph.dot"])) == 2


# display.dot -------------------------------------------------------------------------------------


def test_dot_of_a_tensor_an_edge_and_a_node():
    x = leaf(2)
    y = x * x + 1.0
    text = ng.display.dot(y)
    assert text == ng.display.dot(get_gradient_edge(y)) == ng.display.dot(y.grad_fn)
    assert text == ng.display.dot([y, y])
    assert re.findall(r'label="(\w+)', text)[:3] == ["add", "multiply", "leaf"]
    assert text.count("->") == 3


def test_dot_of_what_has_no_graph():
    with pytest.raises(NoGradError):
        ng.display.dot(ng.tensor([1.0]))
    with pytest.raises(ArgTypeError):
        ng.display.dot(3.0)


def test_dot_of_a_program():
    with deferring(True):
        x = ng.tensor([1.0, 2.0])
        y = x * x + x
    text = ng.display.dot(programs.lower([y], NullTarget()))
    labels = re.findall(r'^node_\d+\[label="(.*?)"', text, re.MULTILINE)
    assert labels == ["multiply", "constant 0", "add", "result 0"]
    assert text.count("float64[2]") == 5
