package gpuframe_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/buffer/spill"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/query/plan"
	"github.com/gpuframe/gpuframe/internal/testing/await"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
	"github.com/gpuframe/gpuframe/internal/testing/querytest"
	"github.com/gpuframe/gpuframe/internal/testing/race"
	"github.com/gpuframe/gpuframe/memory"
	"github.com/gpuframe/gpuframe/memory/adaptor"
	"github.com/gpuframe/gpuframe/memory/resource"
)

// openDevices opens an engine on devices, which divide scans of any length.
func openDevices(t testing.TB, devices []*device.Device, options ...gpuframe.Option) *gpuframe.Engine {
	t.Helper()
	var names []string
	for _, dev := range devices {
		names = append(names, dev.Name())
	}
	e, err := gpuframe.Open(append(options, gpuframe.Devices(names...), gpuframe.DivideFrom(0))...)
	require.NoError(t, err)
	t.Cleanup(func() {
		requireNothing(t, e, "the test")
		require.NoError(t, e.Close())
	})
	return e
}

// requireNothing fails if a device has memory in use.
func requireNothing(t require.TestingT, e *gpuframe.Engine, after string) {
	for _, m := range e.Managers() {
		require.Zero(t, m.Stats().InUse, "%v after %s", m, after)
		require.Zero(t, m.Stats().Leaks)
	}
}

// TestRandomQueriesOnSeveralDevices compares random queries on two to four devices with a model.
func TestRandomQueriesOnSeveralDevices(t *testing.T) {
	for _, devices := range [][]*device.Device{devicetest.Hosts(t, 2), devicetest.Hosts(t, 4), devicetest.HostsApart(t, 3)} {
		e := openDevices(t, devices)
		property.Check(t, func(t *rapid.T) {
			e.KeepFew(rapid.SampledFrom([]int64{0, 5, 12, 1000}).Draw(t, "few"))
			c := querytest.Draw(t, e, querytest.Options{Verbs: 7, Rows: 20})
			defer c.Release()
			checkQuery(t, c, nil)
			checkQuery(t, c, slices.Clone(plan.Passes()))
			require.NoError(t, c.Query.Evict())
			requireNothing(t, e, c.Text)
		})
	}
}

// TestRandomQueriesOnEmulatedDevices runs a few random queries by kernels on two devices.
func TestRandomQueriesOnEmulatedDevices(t *testing.T) {
	e := openDevices(t, devicetest.Emulators(t, 2))
	for seed := range 4 {
		c := rapid.Custom(func(t *rapid.T) *querytest.Case {
			return querytest.Draw(t, e, querytest.Options{Verbs: 3, Rows: 12})
		}).Example(seed)
		f, err := c.Query.Collect(t.Context())
		require.NoError(t, err, c.Text)
		record, err := f.Record(t.Context())
		require.NoError(t, err)
		require.NoError(t, c.Want.Check(record), c.Text)
		record.Release()
		c.Release()
		require.NoError(t, errors.Join(f.Release(), c.Query.Evict()))
	}
}

// queriesOfDevices are queries with an order, on rows that all devices have some of.
func queriesOfDevices(from, others gpuframe.Query) map[string]gpuframe.Query {
	id, key, few, text := gpuframe.Col("id"), gpuframe.Col("key"), gpuframe.Col("few"), gpuframe.Col("text")
	wide := from.With(id.Div(3).As("part"), text.Upper().As("upper")).Filter(id.Mod(7).Ne(3))
	return map[string]gpuframe.Query{
		"rows":           wide,
		"first rows":     from.Head(41),
		"last rows":      wide.Tail(41),
		"slice":          wide.Slice(100, 150),
		"union":          wide.Union(wide.Filter(few.Eq(1)), from.With(id.Div(5).As("part"), text.As("upper"))),
		"groups":         from.GroupBy(few).Agg(id.Div(3).Sum().As("sum"), id.Mean().As("mean"), key.Max().As("max"), gpuframe.Count().As("n")).Sort(few),
		"ordered groups": from.GroupBy(key).Agg(text.First().As("first"), id.Last().As("last"), few.List().As("list")).Sort(key),
		"no keys":        from.Select(id.Sum(), text.Min(), gpuframe.Count().As("n")),
		"no rows":        from.Filter(id.Lt(0)).GroupBy(few).Agg(id.Sum()),
		"sum of none":    from.Filter(id.Lt(0)).Select(id.Sum(), gpuframe.Count().As("n")),
		"distinct":       from.Distinct("key"),
		"values":         from.Select(few, key.Mod(5).As("k")).Distinct(),
		"top with ties":  from.Top(17, few.Desc()),
		"sort with ties": from.Sort(few, key.Desc()),
		"equal keys":     from.Sort(id.Mod(1)),
		"sorted twice":   from.Sort(text).Filter(few.Eq(1)).Sort(few.Desc(), key.Add(1)).Head(40),
		"sorts joined":   from.Sort(few, text).Join(others, gpuframe.Inner, key),
		"inner join":     from.Join(others, gpuframe.Inner, key),
		"left join":      from.Join(others.Filter(few.Eq(1)), gpuframe.Left, key),
		"semi join":      from.Join(others.Head(30), gpuframe.Semi, key),
		"anti join":      from.Join(others, gpuframe.Anti, key),
		"full join":      from.Join(others.Head(30), gpuframe.Full, key),
		"join of groups": from.Join(others.GroupBy(key).Agg(id.Sum().As("sum")), gpuframe.Inner, key).GroupBy(few).Agg(gpuframe.Col("sum").Sum()).Sort(few),
		"window":         from.With(id.Sum().Over(gpuframe.By(few)).As("sum"), id.CumSum().Over(gpuframe.By(few).OrderBy(text)).As("up to")),
		"window sorted":  from.With(id.Max().Over(gpuframe.By(few)).As("max")).Sort(few, text.Desc()),
		"window counted": from.With(gpuframe.RowNumber().Over(gpuframe.By(key).OrderBy(text)).As("n")).GroupBy(few).Agg(gpuframe.Col("n").Sum()).Sort(few),
		"row numbers":    wide.WithRowNumber("n"),
		"numbered":       from.WithRowNumber("n").WithRandom("r", 7).Filter(gpuframe.Col("n").Mod(3).Ne(1)).WithRowNumber("m").Head(60),
		"union numbered": wide.Union(wide.Filter(id.Gt(1_000_000)), from.With(id.Div(5).As("part"), text.As("upper"))).WithRowNumber("n").Tail(300),
		"sort numbered":  from.Sort(few, text).WithRowNumber("n").GroupBy(few).Agg(gpuframe.Col("n").Sum(), gpuframe.Col("n").First().As("first")).Sort(few),
		"two joins":      from.Join(others, gpuframe.Inner, key).Join(others.Filter(few.Eq(1)).Select(key, id.As("other")), gpuframe.Left, key),
		"join numbered":  from.Join(others, gpuframe.Inner, key).WithRowNumber("n").Top(50, gpuframe.Col("n").Desc()),
		"groups counted": from.With(id.Sum().Over(gpuframe.By(few)).As("sum")).WithRowNumber("n").Tail(100),
		"sampled":        from.Sample(0.3, gpuframe.SampleOptions{Seed: 1}).Tail(30).WithRowNumber("n"),
		"some rows":      wide.SampleRows(50, gpuframe.SampleOptions{Seed: 2}),
		"strata":         from.Sample(0.5, gpuframe.SampleOptions{Seed: 3, By: []gpuframe.Expression{few}}),
		"shuffled":       wide.Shuffle(4).Tail(100),
		"drawn":          wide.Sample(0.5, gpuframe.SampleOptions{Seed: 5, Replace: true}),
		"none numbered":  from.Filter(id.Lt(0)).WithRowNumber("n").Tail(3),
		"last of none":   from.Filter(id.Lt(0)).Tail(3),
		"last, all":      from.Tail(1_000_000),
		"joins shuffled": from.Join(others.Join(from, gpuframe.Inner, key).Select(key, few.As("f")), gpuframe.Inner, key).GroupBy(few).Agg(gpuframe.Count().As("n"), gpuframe.Col("f").Sum()).Sort(few),
		"outer shuffled": from.Join(others, gpuframe.Full, key).GroupBy(key).Agg(gpuframe.Count().As("n"), id.Sum(), gpuframe.Col("id_right").Sum()).Sort(key),
		"one row":        from.Filter(id.Eq(77)),
		"used twice":     wide.GroupBy(few).Agg(id.Sum().As("sum")).Join(wide.GroupBy(few).Agg(id.Sum().As("sum")), gpuframe.Inner, few).Sort(few),
	}
}

// TestSeveralDevicesAreOne compares queries on several devices with those on one, row by row. The
// rows are in records, in tables of the first and of another device, and in a reader.
func TestSeveralDevicesAreOne(t *testing.T) {
	records, others := drawn(t, 1, 5, 120), drawn(t, 2, 3, 50)
	one := engineOn(t, devicetest.Open(t, "host"))
	want := map[string][]string{}
	for name, q := range queriesOfDevices(one.Records(nil, records...), one.Records(nil, others...)) {
		want[name] = lines(t, q)
	}
	counts, limits := []int{2, 3, 8}, []int64{6, 40, 300, 1000} // of 8, some have no batch
	switch {
	case race.Enabled:
		counts, limits = []int{3}, []int64{40}
	case testing.Short():
		counts = []int{3, 8}
	}
	for _, count := range counts {
		e := openDevices(t, devicetest.Hosts(t, count))
		frame, err := e.Records(nil, records...).Collect(t.Context())
		require.NoError(t, err)
		elsewhere, err := gpuframe.EngineOn(e.Managers()[1]).Records(nil, others...).Collect(t.Context())
		require.NoError(t, err)
		for name, q := range queriesOfDevices(e.Records(nil, records...), e.Records(nil, others...)) {
			require.Equal(t, want[name], lines(t, q), "%s on %d devices", name, count)
		}
		for name, q := range queriesOfDevices(frame.Query(), e.Table(elsewhere.Table())) {
			if testing.Short() && count == 8 {
				break
			}
			require.Equal(t, want[name], lines(t, q), "%s of tables on %d devices", name, count)
		}
		for i, few := range limits {
			if testing.Short() && count == 8 && i%2 == 0 {
				continue
			}
			e.KeepFew(few)
			for name, q := range queriesOfDevices(e.Records(nil, records...), e.Records(nil, others...)) {
				require.Equal(t, want[name], lines(t, q), "%s on %d devices, %d are few", name, count, few)
			}
		}
		reader, err := array.NewRecordReader(records[0].Schema(), records)
		require.NoError(t, err)
		require.Equal(t, want["groups"], lines(t, queriesOfDevices(e.Reader(reader), e.Records(nil, others...))["groups"]))
		reader.Release()
		require.NoError(t, errors.Join(frame.Release(), elsewhere.Release()))
		requireNothing(t, e, "the queries")
	}
}

// TestTablesAreReadWhereTheyAre compares queries on tables of several devices with those on one
// device. Tables of the first device are not divided, and few rows on others are read there.
func TestTablesAreReadWhereTheyAre(t *testing.T) {
	records, others := drawn(t, 1, 6, 120), drawn(t, 2, 3, 50)
	one := engineOn(t, devicetest.Open(t, "host"))
	want := map[string][]string{}
	for name, q := range queriesOfDevices(one.Records(nil, records...), one.Records(nil, others...)) {
		want[name] = lines(t, q)
	}
	for name, open := range map[string]func(testing.TB, int) []*device.Device{"peers": devicetest.Hosts, "apart": devicetest.HostsApart} {
		var names []string
		for _, dev := range open(t, 3) {
			names = append(names, dev.Name())
		}
		e, err := gpuframe.Open(gpuframe.Devices(names...))
		require.NoError(t, err)
		var frames []*gpuframe.Frame
		on := func(device int, records ...arrow.Record) *buffer.Buffer {
			f, err := gpuframe.EngineOn(e.Managers()[device]).Records(nil, records...).Collect(t.Context())
			require.NoError(t, err)
			frames = append(frames, f)
			return f.Table()
		}
		all := []*buffer.Buffer{on(0, records[:2]...), on(2, records[2]), on(0, records[3]), on(1, records[4:]...)}
		first, last := on(0, others...), on(1, others...)
		for _, right := range []*buffer.Buffer{first, last} {
			for query, q := range queriesOfDevices(e.Table(all[0], all[1:]...), e.Table(right)) {
				require.Equal(t, want[query], lines(t, q), "%s, %s", query, name)
			}
		}
		for query, q := range queriesOfDevices(e.Table(last), e.Table(first)) {
			if query == "groups" {
				text, err := q.Explain(t.Context())
				require.NoError(t, err)
				require.Contains(t, text, "gather from 3 devices")
			}
		}
		for _, q := range queriesOfDevices(e.Table(first), e.Table(first)) {
			text, err := q.Explain(t.Context())
			require.NoError(t, err)
			require.NotContains(t, text, "3 devices")
		}
		many, few, second := on(0, records...), on(1, others[0]), e.Managers()[1]
		second.ResetPeak()
		before := second.Stats().InUse
		require.Empty(t, lines(t, e.Table(many, few).Filter(gpuframe.Col("id").Lt(0))))
		require.LessOrEqual(t, second.Stats().Peak-before, few.Bytes(), "rows of the first device were copied to the second one")
		second.ResetPeak()
		tenant, err := e.Tenant("tenant", 0)
		require.NoError(t, err)
		require.Len(t, lines(t, tenant.Table(on(0, others[0]), few)), int(2*others[0].NumRows()))
		require.LessOrEqual(t, second.Stats().Peak, before, "a table of the engine was copied on its device before it moved")
		require.NoError(t, tenant.Close())
		for _, f := range frames {
			require.NoError(t, f.Release())
		}
		requireNothing(t, e, "the queries")
		require.NoError(t, e.Close())
	}
}

// Structs and lists have no hash by which rows move.
func TestKeysWithoutAHashOnSeveralDevices(t *testing.T) {
	records := structs(t, 3, 40)
	key, id := gpuframe.Col("key"), gpuframe.Col("id")
	list := key.Field("a").Mod(5).Sequence().As("list")
	one, e := engineOn(t, devicetest.Open(t, "host")), openDevices(t, devicetest.Hosts(t, 2))
	for name, of := range map[string]func(q gpuframe.Query) gpuframe.Query{
		"groups":          func(q gpuframe.Query) gpuframe.Query { return q.GroupBy(key).Agg(id.Sum()).Sort(key) },
		"groups of lists": func(q gpuframe.Query) gpuframe.Query { return q.GroupBy(list).Agg(id.Sum()).Sort("list") },
		"full join": func(q gpuframe.Query) gpuframe.Query {
			return q.Join(q.Filter(id.Gt(30)).Select(key, id.As("other")), gpuframe.Full, key).Sort(id, gpuframe.Col("other"))
		},
	} {
		q := of(e.Records(nil, records...))
		require.Equal(t, lines(t, of(one.Records(nil, records...))), lines(t, q), name)
		text, err := q.Explain(t.Context())
		require.NoError(t, err)
		require.NotContains(t, text, "a hash of", name)
	}
}

// structs makes batches of rows with numbers and keys that are structs.
func structs(t *testing.T, batches, rows int) (list []arrow.Record) {
	of := arrow.StructOf(arrow.Field{Name: "a", Type: arrow.PrimitiveTypes.Int8})
	b := array.NewRecordBuilder(arrowmemory.DefaultAllocator, arrow.NewSchema([]arrow.Field{{Name: "id", Type: arrow.PrimitiveTypes.Int64}, {Name: "key", Type: of}}, nil))
	defer b.Release()
	for i := range batches * rows {
		b.Field(0).(*array.Int64Builder).Append(int64(i))
		key := b.Field(1).(*array.StructBuilder)
		key.Append(true)
		key.FieldBuilder(0).(*array.Int8Builder).Append(int8(i % 7))
		if (i+1)%rows == 0 {
			list = append(list, b.NewRecord())
			t.Cleanup(list[len(list)-1].Release)
		}
	}
	return list
}

func TestExplainOfSeveralDevices(t *testing.T) {
	records, others := drawn(t, 1, 2, 100), drawn(t, 2, 1, 50)
	e := openDevices(t, devicetest.HostsApart(t, 3))
	id, key := gpuframe.Col("id"), gpuframe.Col("key")
	q := e.Records(nil, records...).Filter(id.Gt(5)).Join(e.Records(nil, others...).Select(key), gpuframe.Inner, key).GroupBy(key).Agg(id.Sum())
	text, err := q.Explain(t.Context())
	require.NoError(t, err)
	require.Contains(t, text, "as run on hosts-apart, hosts-apart:1, hosts-apart:2:")
	for _, part := range []string{"merge group by key", "gather from 3 devices by pinned memory", "partial group by key",
		"all-gather among 3 devices by pinned memory", "shuffle among 3 devices by a hash of key, pinned memory"} {
		require.Contains(t, text, part)
	}
	var profile gpuframe.Profile
	f, err := q.Collect(t.Context(), gpuframe.Profiled(&profile), gpuframe.Tag("q"))
	require.NoError(t, err)
	require.Contains(t, profile.String(), "gather from 3 devices")
	for _, o := range profile.Operations() {
		require.Positive(t, o.Rows, o.Name)
	}
	require.Positive(t, statsOf(e, "q").InUse)
	require.NoError(t, f.Release())
	require.Zero(t, statsOf(e, "q").InUse)
	require.Positive(t, statsOf(e, "q").Peak)

	// Without DivideFrom so few rows stay on one device.
	usual, err := gpuframe.Open(gpuframe.Devices("hosts-apart:0", "hosts-apart:1"))
	require.NoError(t, err)
	text, err = usual.Records(nil, records...).Explain(t.Context())
	require.NoError(t, err)
	require.NotContains(t, text, "gather")
	require.NoError(t, usual.Close())
}

func TestDevicesRefused(t *testing.T) {
	devicetest.Hosts(t, 2)
	for name, c := range map[string]struct {
		options []gpuframe.Option
		is      error
		message string
	}{
		"none":     {[]gpuframe.Option{gpuframe.Devices()}, device.ErrInvalidValue, "Devices has no name"},
		"twice":    {[]gpuframe.Option{gpuframe.Devices("hosts:0", "hosts:1", "hosts:0")}, device.ErrInvalidValue, "Devices has hosts twice"},
		"missing":  {[]gpuframe.Option{gpuframe.Devices("hosts:0", "hosts:99")}, device.ErrNoDevice, `open "hosts:99"`},
		"both":     {[]gpuframe.Option{gpuframe.Devices("hosts:0"), gpuframe.Device("host")}, device.ErrInvalidValue, "both given"},
		"a budget": {[]gpuframe.Option{gpuframe.Devices("hosts:0", "hosts:1"), gpuframe.Budget(1)}, device.ErrInvalidValue, "less than a byte"},
		"negative": {[]gpuframe.Option{gpuframe.DivideFrom(-1)}, device.ErrInvalidValue, "DivideFrom is -1 rows"},
	} {
		t.Run(name, func(t *testing.T) {
			e, err := gpuframe.Open(c.options...)
			require.Nil(t, e)
			require.ErrorIs(t, err, c.is)
			require.ErrorContains(t, err, c.message)
		})
	}
	emulated := devicetest.Emulators(t, 1)[0]
	_, err := gpuframe.Open(gpuframe.Devices("host", emulated.Name()))
	require.ErrorIs(t, err, device.ErrInvalidValue)
	require.ErrorContains(t, err, "expected one kind")
}

// TestCancelSeveralDevices ends the context at points at which a device looks at it.
func TestCancelSeveralDevices(t *testing.T) {
	for _, few := range []int64{0, 100} {
		cancelSeveralDevices(t, few)
	}
}

func cancelSeveralDevices(t *testing.T, few int64) {
	e := openDevices(t, devicetest.Hosts(t, 3))
	e.KeepFew(few)
	queries := queriesOfDevices(e.Records(nil, drawn(t, 1, 5, 120)...), e.Records(nil, drawn(t, 2, 3, 50)...))
	for _, name := range []string{"rows", "ordered groups", "join of groups", "two joins", "outer shuffled", "sort with ties", "window sorted", "row numbers", "union numbered"} {
		failed := 0
		for step := int64(1); ; step += 1 + step/3 {
			ctx := newCountingContext(step)
			err := read(ctx, queries[name])
			requireNothing(t, e, fmt.Sprintf("%s, point %d", name, step))
			if err == nil {
				if ctx.asked.Load() < step {
					break
				}
				continue // the rest of the work was not needed
			}
			failed++
			require.ErrorIs(t, err, errStopped, "%s, point %d", name, step)
			require.ErrorIs(t, err, context.Canceled)
		}
		require.Greater(t, failed, 3, name)
	}
}

// read reads the frames of a query and releases them.
func read(ctx context.Context, q gpuframe.Query) error {
	for f, err := range q.Batches(ctx) {
		if err != nil {
			return err
		}
		if err := f.Release(); err != nil {
			return err
		}
	}
	return nil
}

// TestFailuresOfOneDevice fails allocations of one of three devices. The error names it, and
// nothing is left on the others.
func TestFailuresOfOneDevice(t *testing.T) {
	devices := devicetest.Hosts(t, 3)
	var managers []*memory.Manager
	var faults []*adaptor.Fault
	for _, dev := range devices {
		fault := adaptor.NewFault(memory.NewDriverResource(dev), adaptor.FaultOptions{})
		faults = append(faults, fault)
		managers = append(managers, devicetest.Manager(t, dev, memory.Options{Resource: fault}))
	}
	e := gpuframe.EngineOnSeveral(managers...)
	defer func() { require.NoError(t, e.Close()) }()
	lost, divisor := errors.New("lost"), uint64(3)
	if testing.Short() {
		divisor = 1
	}
	queries := queriesOfDevices(e.Records(nil, drawn(t, 1, 5, 120)...), e.Records(nil, drawn(t, 2, 3, 50)...))
	for _, name := range []string{"rows", "groups", "inner join", "two joins", "top with ties", "outer shuffled", "sort with ties", "window", "sorts joined", "last rows", "row numbers"} {
		for number, fault := range faults {
			e.KeepFew(100 * int64((number+len(name))%2))
			failed := 0
			for nth := uint64(1); ; nth += 1 + nth/divisor {
				fault.Arm(adaptor.FaultOptions{Allocate: adaptor.FaultRule{Nth: nth}, AllocateError: lost})
				err := read(t.Context(), queries[name])
				requireNothing(t, e, name)
				if err == nil {
					break
				}
				failed++
				require.ErrorIs(t, err, lost)
				require.ErrorContains(t, err, " on "+devices[number].Name()+": ")
			}
			fault.Arm(adaptor.FaultOptions{})
			require.Greater(t, failed, 1, "%s on %v", name, devices[number])
		}
	}
}

// TestBudgetOfSeveralDevices runs queries with the least budget that they report for each device,
// with more and with less.
func TestBudgetOfSeveralDevices(t *testing.T) {
	records, others := drawn(t, 1, 3, 1000), drawn(t, 2, 2, 100)
	one := engineOn(t, devicetest.Open(t, "host"))
	probe := openDevices(t, devicetest.Hosts(t, 3))
	for _, name := range []string{"groups", "ordered groups", "top with ties", "inner join", "sort with ties", "equal keys", "sorts joined", "outer shuffled", "last rows", "row numbers", "union numbered", "some rows"} {
		want := lines(t, queriesOfDevices(one.Records(nil, records...), one.Records(nil, others...))[name])
		needs, err := queriesOfDevices(probe.Records(nil, records...), probe.Records(nil, others...))[name].Needs(t.Context())
		require.NoError(t, err)
		for _, budget := range []uint64{needs.Smallest - 1, needs.Smallest, 4 * needs.Smallest} {
			e := openDevices(t, devicetest.Hosts(t, 3), gpuframe.Budget(3*budget))
			q := queriesOfDevices(e.Records(nil, records...), e.Records(nil, others...))[name]
			var refused *gpuframe.NeedsError
			if budget < needs.Smallest {
				require.ErrorAs(t, read(t.Context(), q), &refused)
				require.Equal(t, []uint64{needs.Smallest, budget}, []uint64{refused.Needed, refused.Budget})
				continue
			}
			got := lines(t, q)
			if name == "inner join" { // a join that divides its sides yields its rows in another order
				slices.Sort(want)
				slices.Sort(got)
			}
			require.Equal(t, want, got, "%s with %d bytes on each", name, budget)
		}
	}
}

// TestIterationOnSeveralDevices runs a query of a tenant between two frames of an iteration, and
// ends another iteration early.
func TestIterationOnSeveralDevices(t *testing.T) {
	e, err := gpuframe.Open(gpuframe.Devices(devicetest.Hosts(t, 2)[0].Name(), "hosts:1"), gpuframe.DivideFrom(0), gpuframe.Budget(64<<20))
	require.NoError(t, err)
	records := drawn(t, 1, 6, 50)
	tenant, err := e.Tenant("a", 32<<20)
	require.NoError(t, err)
	for _, m := range tenant.Managers() {
		require.Equal(t, uint64(16<<20), m.Budget())
		require.Equal(t, "a", m.Name())
	}
	var failure error
	frames := 0
	for f, err := range e.Records(nil, records...).Filter(gpuframe.Col("id").Ge(0)).Batches(t.Context()) {
		if failure = err; err != nil {
			break
		}
		frames++
		require.NoError(t, f.Release())
		if frames == 2 {
			require.Len(t, lines(t, tenant.Records(nil, records...).Sort(gpuframe.Col("id"))), 300)
			require.NoError(t, tenant.Close())
		}
	}
	require.NoError(t, failure)
	require.Equal(t, 6, frames)
	for f, err := range e.Records(nil, records...).Batches(t.Context()) {
		require.NoError(t, err)
		require.NoError(t, f.Release())
		break
	}
	requireNothing(t, e, "two iterations")
	require.NoError(t, e.Close())
	require.ErrorIs(t, read(t.Context(), e.Records(nil, records...)), gpuframe.ErrClosed)
}

// gate is a resource that allocates nothing until it is open.
type gate struct {
	memory.Resource
	opened <-chan struct{}
}

func (g gate) Allocate(bytes uint64, stream *device.Stream) (resource.Allocation, error) {
	<-g.opened
	return g.Resource.Allocate(bytes, stream)
}

// pulled reports the records that are read, before each.
type pulled struct {
	array.RecordReader
	records atomic.Int64
	next    func(records int64)
}

func (p *pulled) Next() bool {
	p.next(p.records.Add(1))
	return p.RecordReader.Next()
}

// A device that takes no rows bounds the number of batches that the others read ahead.
func TestASlowDeviceIsNotLeftBehind(t *testing.T) {
	devices := devicetest.Hosts(t, 2)
	opened := make(chan struct{})
	managers := []*memory.Manager{
		devicetest.Manager(t, devices[0], memory.Options{}),
		devicetest.Manager(t, devices[1], memory.Options{Resource: gate{memory.NewDriverResource(devices[1]), opened}}),
	}
	e := gpuframe.EngineOnSeveral(managers...)
	defer func() { require.NoError(t, e.Close()) }()
	// The slow device has a batch and waits with it. Two more wait for it, and the fast one has as many
	// before the next one of the slow device.
	const most = 7
	records := drawn(t, 1, 40, 10)
	reader, err := array.NewRecordReader(records[0].Schema(), records)
	require.NoError(t, err)
	defer reader.Release()
	var tooMany atomic.Bool
	counted := &pulled{RecordReader: reader, next: func(records int64) {
		select {
		case <-opened:
		default:
			if records > most {
				tooMany.Store(true)
			}
		}
	}}
	few := gpuframe.Col("few")
	var all sync.WaitGroup
	all.Go(func() {
		f, err := e.Reader(counted).GroupBy(few).Agg(gpuframe.Count().As("n")).Select(gpuframe.Col("n").Sum()).Collect(t.Context())
		if assert.NoError(t, err) {
			assert.NoError(t, f.Release())
		}
	})
	await.Until(t, func() bool { return counted.records.Load() >= most-2 }, "the fast device has read ahead")
	close(opened)
	all.Wait()
	require.False(t, tooMany.Load(), "more than %d records were read", most)
	require.Equal(t, int64(len(records)+1), counted.records.Load())
}

// An error of a query that lacked memory names the files of a device that is not the first one.
func TestSpillingOfAnotherDeviceIsExplained(t *testing.T) {
	devices := devicetest.Hosts(t, 2)
	managers := []*memory.Manager{devicetest.Manager(t, devices[0], memory.Options{}), devicetest.Manager(t, devices[1], memory.Options{Budget: 150_000})}
	e := gpuframe.EngineOnSeveral(managers...)
	defer func() { require.NoError(t, e.Close()) }()
	missing := filepath.Join(t.TempDir(), "none")
	for i := range devices {
		e.SpillTo(i, spill.Options{HostBudget: 1, Directory: missing})
	}
	_, err := e.Records(nil, drawn(t, 1, 8, 3000)...).Sort(gpuframe.Col("text")).Collect(t.Context())
	require.ErrorIs(t, err, memory.ErrBudget)
	var failure *gpuframe.SpillError
	require.ErrorAs(t, err, &failure)
	require.Equal(t, missing, failure.Path)
	require.ErrorContains(t, err, "hosts:1: spill: create a file")
	requireNothing(t, e, "the query")
}
