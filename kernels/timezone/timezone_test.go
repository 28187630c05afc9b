package timezone

import (
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"
	_ "time/tzdata"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/columntest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/memory"
)

// zones returns the names of all zones of the system, or some if it has none.
func zones() []string {
	names := []string{
		"UTC", "Europe/Oslo", "Europe/Dublin", "Europe/Lisbon", "America/New_York", "America/Sao_Paulo", "America/St_Johns", "Africa/Casablanca",
		"Africa/Monrovia", "Asia/Kathmandu", "Asia/Gaza", "Australia/Lord_Howe", "Pacific/Apia", "Pacific/Chatham", "Antarctica/Troll", "Etc/GMT+12",
	}
	const root = "/usr/share/zoneinfo"
	_ = fs.WalkDir(os.DirFS(root), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil //nolint:nilerr // names that cannot be read are left out
		}
		if _, err := time.LoadLocation(filepath.ToSlash(path)); err == nil && path != "localtime" {
			names = append(names, path)
		}
		return nil
	})
	return names
}

// wall returns the second that the clock of a location shows at an instant.
func wall(second int64, in *time.Location) int64 {
	t := time.Unix(second, 0).In(in)
	return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), 0, time.UTC).Unix()
}

// earliest returns the earliest second for which a function accepts the time that the clock of a location shows,
// near a second that it shows. That is a change of the clock or, without one, a second at which it
// shows the second.
func earliest(second int64, in *time.Location, wanted func(wall int64) bool) int64 {
	const far = 30 * 60 * 60
	first := int64(math.MaxInt64)
	for at := time.Unix(second-far, 0).In(in); !at.IsZero() && at.Unix() < second+far; at = next(at) {
		_, offset := at.Zone()
		for _, candidate := range []int64{at.Unix(), second - int64(offset)} {
			if wanted(wall(candidate, in)) {
				first = min(first, candidate)
			}
		}
	}
	return first
}

// instant returns the first second at which the clock of a location shows another or a later one.
func instant(second int64, in *time.Location) int64 {
	return earliest(second, in, func(wall int64) bool { return wall >= second })
}

// beginning returns the first second at which the clock of a location shows a day since 1970.
func beginning(day int64, in *time.Location) int64 {
	return earliest(day*86_400, in, func(wall int64) bool { return floor(wall, 86_400) == day })
}

// transitions returns seconds around the changes of a clock between years, and others.
func transitions(in *time.Location, from, to int) (seconds []int64) {
	at := time.Date(from, 1, 1, 0, 0, 0, 0, time.UTC).In(in)
	for at.Year() < to {
		_, before := at.Zone()
		end := next(at)
		if end.IsZero() || end.Year() >= to {
			break
		}
		at = end
		if _, after := at.Zone(); before == after {
			continue
		}
		for _, around := range []int64{-86_400, -7201, -3601, -3600, -1801, -1, 0, 1, 1799, 3599, 3600, 7200, 90_000} {
			seconds = append(seconds, end.Unix()+around)
		}
	}
	return seconds
}

// TestEveryZone compares the tables with Go's time, at every change from 1900 to 2037 and
// later ones, and at random times of a million years: what clocks show, when they show it, and when
// days begin.
func TestEveryZone(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	names := zones()
	if testing.Short() {
		random.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
		names = names[:min(len(names), 60)]
	}
	for _, name := range names {
		in, err := time.LoadLocation(name)
		require.NoError(t, err)
		zone, err := tableOf(name)
		require.NoError(t, err)
		seconds := append(transitions(in, 1900, 2038), transitions(in, 2480, 2520)...)
		for range 100 {
			seconds = append(seconds, random.Int64N(1<<45)-1<<44, random.Int64N(1<<34)-1<<33)
		}
		for _, second := range seconds {
			local := wall(second, in)
			if got := second + zone.toLocal(second); got != local {
				t.Fatalf("%s: the clock at %d shows %d, want %d", name, second, got, local)
			}
			first := instant(second, in)
			if got := second + zone.toInstant(second, 0, 1); got != first {
				t.Fatalf("%s: the clock shows %d at %d, want %d", name, second, got, first)
			}
			const unit, rest = 1000, 999
			want := first * unit
			if wall(first, in) == second {
				want += rest
			}
			if got := second*unit + rest + zone.toInstant(second, rest, unit); got != want {
				t.Fatalf("%s: the clock shows %d.999 at %d, want %d", name, second, got, want)
			}
			day := floor(local, 86_400)
			if want, got := beginning(day, in), day*86_400+zone.toInstant(day*86_400, 0, 1); got != want {
				t.Fatalf("%s: day %d begins at %d, want %d", name, day, got, want)
			}
		}
	}
}

// TestDaysWithoutMidnight has days that begin after a gap, or at the first of two midnights.
func TestDaysWithoutMidnight(t *testing.T) {
	for _, c := range []struct{ zone, day, begin string }{
		{"America/Santiago", "2025-09-07", "2025-09-07T04:00:00Z"},
		{"America/Havana", "2025-03-09", "2025-03-09T05:00:00Z"},
		{"America/Havana", "2025-11-02", "2025-11-02T04:00:00Z"}, // 1:00 becomes 0:00
		{"America/Asuncion", "2023-10-01", "2023-10-01T04:00:00Z"},
		{"America/Sao_Paulo", "2018-11-04", "2018-11-04T03:00:00Z"},
		{"Africa/Cairo", "2024-04-26", "2024-04-25T22:00:00Z"},
		{"Asia/Beirut", "2024-03-31", "2024-03-30T22:00:00Z"},
		{"America/Toronto", "1919-03-31", "1919-03-31T04:30:00Z"}, // 23:30 becomes 0:30
		{"Pacific/Apia", "2011-12-31", "2011-12-30T10:00:00Z"},    // December 30 is left out
		{"Australia/Lord_Howe", "2025-10-05", "2025-10-04T13:30:00Z"},
	} {
		day, err := time.Parse(time.DateOnly, c.day)
		require.NoError(t, err)
		want, err := time.Parse(time.RFC3339, c.begin)
		require.NoError(t, err)
		zone, err := tableOf(c.zone)
		require.NoError(t, err)
		require.Equal(t, want.Unix(), day.Unix()+zone.toInstant(day.Unix(), 0, 1), c)
	}
}

// timestamps makes an array.
func timestamps(t *arrow.TimestampType, values []int64, valid []bool) arrow.Array {
	b := array.NewTimestampBuilder(arrowmemory.DefaultAllocator, t)
	defer b.Release()
	for i, v := range values {
		if valid[i] {
			b.Append(arrow.Timestamp(v))
		} else {
			b.AppendNull()
		}
	}
	return b.NewArray()
}

// TestConversions compares the operators with the tables, for all units, with nulls, in slices
// and with row counts on the device.
func TestConversions(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		random := rand.New(rand.NewPCG(3, 4))
		for _, name := range []string{"UTC", "America/New_York", "America/Santiago", "Africa/Casablanca", "Australia/Lord_Howe"} {
			in, err := time.LoadLocation(name)
			require.NoError(t, err)
			zone, err := tableOf(name)
			require.NoError(t, err)
			for _, unit := range []arrow.TimeUnit{arrow.Second, arrow.Millisecond, arrow.Microsecond, arrow.Nanosecond} {
				per := int64(unit.Multiplier())
				per = int64(time.Second) / per
				values := []int64{math.MinInt64, math.MinInt64 + 40_000*per, math.MaxInt64, math.MaxInt64 - 40_000*per, -1, 0}
				for _, s := range append(transitions(in, 2005, 2010), transitions(in, 2199, 2201)...) {
					values = append(values, s*per, s*per+per-1)
				}
				for range 50 {
					s := random.Int64N(1<<32) - 1<<31 - 1<<30
					values = append(values, s*per, s*per-1, s*per+random.Int64N(per))
				}
				valid := make([]bool, len(values))
				for i := range valid {
					valid[i] = i%7 != 3
				}
				for _, toInstant := range []bool{false, true} {
					whole := timestamps(&arrow.TimestampType{Unit: unit}, values, valid)
					c, _ := columntest.UploadRows(t, mgr, whole, 1, len(values))
					whole.Release()
					rows := int64(c.Len() - 5)
					counted := columntest.WithRows(t, mgr, c, rows)
					e := Local(expr.Col("t"), name)
					if toInstant {
						e = Instant(expr.Col("t"), name)
					}
					for _, of := range []int64{int64(c.Len()), rows} {
						input := c
						if of == rows {
							input = counted
						}
						table, err := buffer.New(arrow.NewSchema([]arrow.Field{{Name: "t", Type: c.Type(), Nullable: true}}, nil), []*column.Column{input}, buffer.Rows{Count: int64(c.Len()), Shared: input.RowCount()})
						require.NoError(t, err)
						made, err := expr.Project(t.Context(), table, []expr.Expr{e})
						require.NoError(t, err)
						require.NoError(t, table.Release())
						record := columntest.Fetch(t, made)
						require.Equal(t, of, record.NumRows())
						got := record.Column(0).(*array.Timestamp)
						for i := range got.Len() {
							value := values[i+1]
							second := floor(value, per)
							shift := zone.toLocal(second) * per
							if toInstant {
								shift = zone.toInstant(second, value-second*per, per)
							}
							sum := value + shift
							null := !valid[i+1] || (sum < value) != (shift < 0)
							require.Equalf(t, null, got.IsNull(i), "%s %v %d", name, unit, value)
							if !null {
								require.Equalf(t, sum, int64(got.Value(i)), "%s %v %d", name, unit, value)
							}
						}
					}
				}
			}
		}
	})
}

// TestPartsOfClocks compares the parts that are computed with the conversion with package
// time, and with those of a timestamp that is made first.
func TestPartsOfClocks(t *testing.T) {
	parts := map[string]struct {
		of   func(expr.Expr) expr.Expr
		want func(time.Time) int
	}{
		"year":        {expr.Expr.Year, time.Time.Year},
		"quarter":     {expr.Expr.Quarter, func(t time.Time) int { return (int(t.Month()) + 2) / 3 }},
		"month":       {expr.Expr.Month, func(t time.Time) int { return int(t.Month()) }},
		"day":         {expr.Expr.Day, time.Time.Day},
		"day of year": {expr.Expr.DayOfYear, time.Time.YearDay},
		"weekday":     {expr.Expr.Weekday, func(t time.Time) int { return (int(t.Weekday()) + 6) % 7 }},
		"hour":        {expr.Expr.Hour, time.Time.Hour},
		"minute":      {expr.Expr.Minute, time.Time.Minute},
		"second":      {expr.Expr.Second, time.Time.Second},
		"subsecond":   {expr.Expr.Subsecond, time.Time.Nanosecond},
	}
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		random := rand.New(rand.NewPCG(5, 6))
		for _, unit := range []arrow.TimeUnit{arrow.Second, arrow.Millisecond, arrow.Microsecond, arrow.Nanosecond} {
			const zone = "America/St_Johns"
			in, err := time.LoadLocation(zone)
			require.NoError(t, err)
			per := int64(time.Second) / int64(unit.Multiplier())
			var values []int64
			for _, s := range transitions(in, 1948, 1955) {
				values = append(values, s*per+random.Int64N(per))
			}
			for range 3000 - len(values) {
				values = append(values, (random.Int64N(1<<33)-1<<32)*per+random.Int64N(per))
			}
			valid := make([]bool, len(values))
			for i := range valid {
				valid[i] = i%9 != 5
			}
			whole := timestamps(&arrow.TimestampType{Unit: unit, TimeZone: "Asia/Tokyo"}, values, valid)
			c, _ := columntest.UploadRows(t, mgr, whole, 0, len(values))
			whole.Release()
			table, err := buffer.New(arrow.NewSchema([]arrow.Field{{Name: "t", Type: c.Type(), Nullable: true}}, nil), []*column.Column{c}, buffer.Rows{Count: int64(c.Len())})
			require.NoError(t, err)
			for name, part := range parts {
				made, err := expr.Project(t.Context(), table, []expr.Expr{part.of(Local(expr.Col("t"), zone))})
				require.NoError(t, err)
				got := columntest.Fetch(t, made).Column(0).(*array.Int64)
				for i, value := range values {
					require.Equal(t, !valid[i], got.IsNull(i))
					second := floor(value, per)
					if want := part.want(time.Unix(second, (value-second*per)*(int64(time.Second)/per)).In(in)); valid[i] {
						require.Equalf(t, int64(want), got.Value(i), "%s of %d %v", name, value, unit)
					}
				}
			}
			require.NoError(t, table.Release())
		}
	})
}

func floor(value, by int64) int64 {
	if q := value / by; value%by >= 0 {
		return q
	}
	return value/by - 1
}

func TestParts(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		schema := arrow.NewSchema([]arrow.Field{{Name: "t", Type: &arrow.TimestampType{Unit: arrow.Second, TimeZone: "UTC"}, Nullable: true}, {Name: "id", Type: arrow.PrimitiveTypes.Int64}}, nil)
		b := array.NewRecordBuilder(arrowmemory.DefaultAllocator, schema)
		defer b.Release()
		for _, at := range []string{"2025-03-30T00:59:59Z", "2025-03-30T01:00:00Z", "2025-12-31T23:30:00Z"} {
			parsed, err := time.Parse(time.RFC3339, at)
			require.NoError(t, err)
			b.Field(0).(*array.TimestampBuilder).Append(arrow.Timestamp(parsed.Unix()))
			b.Field(1).(*array.Int64Builder).Append(1)
		}
		record := b.NewRecord()
		defer record.Release()
		table, err := buffer.FromRecord(mgr, record)
		require.NoError(t, err)
		defer func() { require.NoError(t, table.Release()) }()
		local := Local(expr.Col("t"), "Europe/Oslo")
		made, err := expr.Project(t.Context(), table, []expr.Expr{local.Hour().As("hour"), local.Year().As("year"), Instant(local.Truncate("day"), "Europe/Oslo").As("day")})
		require.NoError(t, err)
		fetched := columntest.Fetch(t, made)
		require.Equal(t, "[1 3 0]", fetched.Column(0).String())
		require.Equal(t, "[2025 2025 2026]", fetched.Column(1).String())
		require.Equal(t, "2026-01-01 00:00:00+0100", fetched.Column(2).ValueStr(2))

		for want, e := range map[string]expr.Expr{
			`time zone "Mars/Olympus": unknown time zone`:      Local(expr.Col("t"), "Mars/Olympus"),
			`is "", expected one like`:                         Local(expr.Col("t"), ""),
			"int64 is no timestamp":                            Local(expr.Col("id"), "UTC"),
			"is an instant already, expected a timestamp with": Instant(expr.Col("t"), "UTC"),
		} {
			_, err := expr.Evaluate(t.Context(), table, []expr.Expr{e})
			require.ErrorContains(t, err, want)
		}
	})
}
