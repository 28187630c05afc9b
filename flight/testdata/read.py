"""Reads a gpuframe-serve server with pyarrow: python3 read.py ADDRESS TOKEN TABLE.

Lists the tables, reads one, uploads it again under another name, compares both, runs a query
document, and prints the rates. It exits with 1 if anything differs.
"""

import json
import sys
import time

import pyarrow
import pyarrow.flight as flight


def main(address, token, name):
    client = flight.connect(f"grpc://{address}")
    options = flight.FlightCallOptions(headers=[(b"authorization", b"Bearer " + token.encode())])
    listed = [info.descriptor.path[0].decode() for info in client.list_flights(options=options)]
    assert name in listed, listed

    def read(ticket):
        begin = time.perf_counter()
        table = client.do_get(flight.Ticket(ticket), options).read_all()
        return table, time.perf_counter() - begin

    info = client.get_flight_info(flight.FlightDescriptor.for_path(name), options)
    table, seconds = read(info.endpoints[0].ticket.ticket)
    assert table.schema.equals(info.schema), (table.schema, info.schema)
    table.validate(full=True)
    print(f"read {table.num_rows} rows, {table.nbytes / seconds / 1e9:.2f} GB/s")

    begin = time.perf_counter()
    writer, _ = client.do_put(flight.FlightDescriptor.for_path("copy"), table.schema, options)
    writer.write_table(table, max_chunksize=1 << 14)  # messages of at most 16 MiB
    writer.close()
    print(f"uploaded, {table.nbytes / (time.perf_counter() - begin) / 1e9:.2f} GB/s")
    copy, _ = read(json.dumps({"table": "copy"}).encode())
    assert copy.equals(table), "the copy differs"

    key, value = table.schema.names[:2]
    column = lambda n: {"function": "column", "name": n}
    query = {"version": 1, "steps": [
        {"verb": "table", "name": name},
        {"verb": "group", "inputs": [0], "keys": [column(key)], "aggregates": [
            {"function": "as", "name": "n", "arguments": [{"function": "count", "arguments": [column(value)]}]}]},
        {"verb": "sort", "inputs": [1], "keys": [{"value": column(key)}]}]}
    groups, _ = read(json.dumps(query).encode())
    theirs = table.group_by(key).aggregate([(value, "count")]).sort_by(key)
    assert groups.column("n").to_pylist() == theirs.column(f"{value}_count").to_pylist(), "the groups differ"
    assert groups.column(key).to_pylist() == theirs.column(key).to_pylist(), "the keys differ"
    print(f"{groups.num_rows} groups equal pyarrow's {pyarrow.__version__}")

    for ticket, text in ((b"SELECT 1", "no JSON"), (b'{"table": "nowhere"}', "no table is called")):
        try:
            read(ticket)
        except pyarrow.ArrowException as error:
            assert text in str(error), error
        else:
            raise AssertionError(f"{ticket} was answered")
    list(client.do_action(flight.Action("drop", b"copy"), options))
    print("passed")


main(*sys.argv[1:])
