"""Checks a memory snapshot as PyTorch's viewer reads it, and renders it with torch if asked to."""
import json
import pickle
import sys

with open(sys.argv[1], "rb") as file:
    data = pickle.load(file)
active = {}
for segment in data["segments"]:
    at, sums = segment["address"], {"active_allocated": 0, "active_pending_free": 0, "inactive": 0}
    for block in segment["blocks"]:
        assert block["address"] == at, "blocks have gaps"
        at += block["size"]
        sums[block["state"]] += block["size"]
        for frame in block["frames"]:
            assert frame.keys() == {"filename", "line", "name"}
        if block["state"] != "inactive":
            active[segment["device"], block["address"]] = block["requested_size"]
            assert 0 < block["requested_size"] <= block["size"]
    assert at == segment["address"] + segment["total_size"], "blocks do not fill their segment"
    assert segment["allocated_size"] == sums["active_allocated"]
    assert segment["active_size"] == sums["active_allocated"] + sums["active_pending_free"]

# Back in time, from the end. Every block lies in a segment.
for device, trace in enumerate(data["device_traces"]):
    segments = [(s["address"], s["total_size"]) for s in data["segments"] if s["device"] == device]
    blocks = {address: size for (on, address), size in active.items() if on == device}
    for event in reversed(trace):
        action, address, size = event["action"], event["addr"], event["size"]
        if action == "segment_free":
            segments.append((address, size))
        elif action == "free_completed":
            assert address not in blocks, "two blocks at an address"
            blocks[address] = size
        elif action == "free_requested":
            assert address in blocks
        elif action == "alloc":
            assert blocks.pop(address) <= size, "the block of an allocation is another"
        elif action == "oom":
            assert event["device_free"] >= 0
        else:
            raise AssertionError(action)
        if action != "oom":
            assert any(a <= address and address + size <= a + b for a, b in segments), "a block lies in no segment"

if sys.argv[2:] == ["torch"]:
    from torch.cuda import _memory_viz as viz
    if hasattr(viz, "trace_plot"):
        for plot in (viz.trace_plot(data), viz.segment_plot(data)):
            assert len(plot) > 1000 and "MemoryViz" in plot
        trace = viz.trace(data)
        assert " = " in trace and "del " in trace, trace  # a name for each allocation, and its free
        viz.segsum(data)
        flames = viz.memory(data, format_flamegraph=lambda text: text)
    else:
        viz.stats(data["segments"])
        flames = viz.memory(data["segments"], format_flamegraph=lambda text: text)
    assert "active_allocated" in flames

json.dump({
    "actions": [[event["action"] for event in trace] for trace in data["device_traces"]],
    "names": sorted({frame["name"] for segment in data["segments"] for block in segment["blocks"] for frame in block["frames"]}),
}, sys.stdout)
