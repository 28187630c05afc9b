package trace_test

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe/internal/testing/property"
	"github.com/gpuframe/gpuframe/memory/adaptor/trace"
)

func readAll(log string) (events []trace.Event, err error) {
	for event, err := range trace.Read(strings.NewReader(log)) {
		if err != nil {
			return events, err
		}
		events = append(events, event)
	}
	return events, nil
}

func clock(hours, minutes, seconds, microseconds int) time.Duration {
	return time.Duration(hours)*time.Hour + time.Duration(minutes)*time.Minute +
		time.Duration(seconds)*time.Second + time.Duration(microseconds)*time.Microsecond
}

func TestReadWhatRMMHasWritten(t *testing.T) {
	for name, test := range map[string]struct {
		log  string
		want []trace.Event
	}{
		"a failure and streams": {
			"Thread,Time,Action,Pointer,Size,Stream\n" +
				"1979932,14:21:19.998533,allocate,0x30a000000,256,0x2\n" +
				"1979932,14:21:20.000001,allocate failure,(nil),1099511627776,0\n" +
				"1980043,14:21:32.661875,free,0x30a000000,256,0x2\n",
			[]trace.Event{
				{Line: 2, Thread: 1979932, Time: clock(14, 21, 19, 998533), Action: trace.Allocate, Pointer: 0x30a000000, Size: 256, Stream: 2},
				{Line: 3, Thread: 1979932, Time: clock(14, 21, 20, 1), Action: trace.AllocateFailure, Size: 1 << 40},
				{Line: 4, Thread: 1980043, Time: clock(14, 21, 32, 661875), Action: trace.Free, Pointer: 0x30a000000, Size: 256, Stream: 2},
			},
		},
		"addresses without 0x, a colon before the microseconds": {
			"Thread,Time,Action,Pointer,Size,Stream\n140,09:05:07:000250,allocate,7f5f2a000000,1024,0\n",
			[]trace.Event{{Line: 2, Thread: 140, Time: clock(9, 5, 7, 250), Action: trace.Allocate, Pointer: 0x7f5f2a000000, Size: 1024}},
		},
		"seconds since 1970 and the manual's word for a free": {
			"Thread,Time,Action,Pointer,Size,Stream\n7,1634567890.345678,deallocate,0x10,1024,0x20",
			[]trace.Event{{Line: 2, Thread: 7, Time: 1634567890345678 * time.Microsecond, Action: trace.Free, Pointer: 0x10, Size: 1024, Stream: 0x20}},
		},
		"other columns, another order, carriage returns, an empty line, quotes": {
			"Size,Note,Pointer, action ,Stream,Time,Thread\r\n\r\n8,\"a, b\",0xA, allocate ,0X1f,00:00:00.5,3\r\n",
			[]trace.Event{{Line: 3, Thread: 3, Time: 500 * time.Millisecond, Action: trace.Allocate, Pointer: 10, Size: 8, Stream: 0x1f}},
		},
		"past midnight, with a thread that was late": {
			"Thread,Time,Action,Pointer,Size,Stream\n1,23:59:59.9,allocate,1,1,0\n1,00:00:00.1,allocate,2,1,0\n2,23:59:59.95,free,1,1,0\n1,13:00:00,free,2,1,0\n",
			[]trace.Event{
				{Line: 2, Thread: 1, Time: clock(23, 59, 59, 900000), Action: trace.Allocate, Pointer: 1, Size: 1},
				{Line: 3, Thread: 1, Time: clock(24, 0, 0, 100000), Action: trace.Allocate, Pointer: 2, Size: 1},
				{Line: 4, Thread: 2, Time: clock(23, 59, 59, 950000), Action: trace.Free, Pointer: 1, Size: 1},
				{Line: 5, Thread: 1, Time: clock(37, 0, 0, 0), Action: trace.Free, Pointer: 2, Size: 1},
			},
		},
		"no events": {"Thread,Time,Action,Pointer,Size,Stream\n", nil},
	} {
		t.Run(name, func(t *testing.T) {
			events, err := readAll(test.log)
			require.NoError(t, err)
			assert.Equal(t, test.want, events)
		})
	}
}

func TestReadSaysWhere(t *testing.T) {
	const good = "1,00:00:00.000001,allocate,0x1,1,0\n"
	for name, test := range map[string]struct {
		log    string
		line   int
		column int
		text   []string
	}{
		"nothing":           {"", 1, 0, []string{"no header", trace.Header}},
		"no header":         {good, 1, 0, []string{"no column Thread"}},
		"a column less":     {"Thread,Time,Action,Pointer,Size\n", 1, 0, []string{"no column Stream"}},
		"a field less":      {trace.Header + "\n" + good + "1,00:00:00,free,0x1,1\n", 3, 0, []string{"wrong number of fields"}},
		"cut off":           {trace.Header + "\n" + good + "1,00:0", 3, 0, []string{"wrong number of fields"}},
		"open quote":        {trace.Header + "\n\"1,", 2, 0, []string{`"`}},
		"thread":            {trace.Header + "\n-1,00:00:00,free,0x1,1,0\n", 2, 1, []string{`Thread "-1"`, "invalid syntax"}},
		"time":              {trace.Header + "\n1,24:00:00,free,0x1,1,0\n", 2, 3, []string{`Time "24:00:00"`, "15:04:05"}},
		"time without end":  {trace.Header + "\n1,12:00,free,0x1,1,0\n", 2, 3, []string{"Time"}},
		"fraction":          {trace.Header + "\n1,12:00:00.1234567x,free,0x1,1,0\n", 2, 3, []string{"Time"}},
		"seconds":           {trace.Header + "\n1,yesterday,free,0x1,1,0\n", 2, 3, []string{"Time"}},
		"action":            {trace.Header + "\n" + good + "1,00:00:00,realloc,0x1,1,0\n", 3, 12, []string{`Action "realloc"`, `"allocate failure"`}},
		"pointer":           {trace.Header + "\n1,00:00:00,free,0x,1,0\n", 2, 17, []string{`Pointer "0x"`}},
		"pointer too large": {trace.Header + "\n1,00:00:00,free,0x10000000000000000,1,0\n", 2, 17, []string{"value out of range"}},
		"size":              {trace.Header + "\n1,00:00:00,free,0x1,1e6,0\n", 2, 21, []string{`Size "1e6"`}},
		"stream":            {trace.Header + "\n1,00:00:00,free,0x1,1,default\n", 2, 23, []string{`Stream "default"`}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := readAll(test.log)
			var parse *trace.ParseError
			require.ErrorAs(t, err, &parse)
			assert.Equal(t, test.line, parse.Line)
			assert.Equal(t, test.column, parse.Column)
			for _, text := range test.text {
				assert.ErrorContains(t, err, text)
			}
		})
	}
}

func TestReadEndsWithTheErrorOfItsReader(t *testing.T) {
	broken := errors.New("disk on fire")
	log := io.MultiReader(strings.NewReader(trace.Header+"\n1,00:00:00,free,0x1,1,0\n"), iotest.ErrReader(broken))
	var failures []error
	events := 0
	for _, err := range trace.Read(log) {
		if err != nil {
			failures = append(failures, err)
			continue
		}
		events++
	}
	assert.Equal(t, 1, events)
	require.Len(t, failures, 1, "the error comes once and is the last")
	assert.ErrorIs(t, failures[0], broken)
}

func TestReadStopsWhenAskedTo(t *testing.T) {
	log := trace.Header + "\n" + strings.Repeat("1,00:00:00,free,0x1,1,0\n", 5)
	seen := 0
	for range trace.Read(strings.NewReader(log)) {
		if seen++; seen == 2 {
			break
		}
	}
	assert.Equal(t, 2, seen)
}

func TestAppendTextRefusesWhatIsNoAction(t *testing.T) {
	_, err := trace.Event{}.AppendText(nil)
	require.ErrorContains(t, err, "Action(0)")
}

func TestWhatIsWrittenIsRead(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		const day = int64(24 * time.Hour / time.Microsecond)
		log := []byte(trace.Header + "\n")
		var want []trace.Event
		for i := range rapid.IntRange(0, 20).Draw(t, "events") {
			event := trace.Event{
				Line:    i + 2,
				Thread:  rapid.Uint64().Draw(t, "thread"),
				Time:    time.Duration(rapid.Int64Range(0, day-1).Draw(t, "time")) * time.Microsecond,
				Action:  trace.Action(rapid.IntRange(1, 3).Draw(t, "action")),
				Pointer: rapid.Uint64().Draw(t, "pointer"),
				Size:    rapid.Uint64().Draw(t, "size"),
				Stream:  rapid.Uint64().Draw(t, "stream"),
			}
			line, err := event.AppendText(log)
			if err != nil {
				t.Fatal(err)
			}
			log = append(line, '\n')
			want = append(want, event)
		}
		got, err := readAll(string(log))
		if err != nil {
			t.Fatal(err)
		}
		require.Len(t, got, len(want))
		for i := range got {
			got[i].Time %= 24 * time.Hour
			assert.Equal(t, want[i], got[i])
		}
	})
}

func FuzzRead(f *testing.F) {
	f.Add(trace.Header + "\n1,14:21:19.998533,allocate,0x30a000000,256,0x2\n1,14:21:19.998533,free,0x30a000000,256,0x2\n")
	f.Add("Stream,Size,Pointer,Action,Time,Thread,Thread\n0,1,(nil),allocate failure,1634567890.345678,1,1\n")
	f.Add(trace.Header + "\n\"1\",0:0:0:5,deallocate,A,0,0X1\n")
	f.Fuzz(func(t *testing.T, log string) {
		events, _ := readAll(log)
		again := []byte(trace.Header + "\n")
		for _, event := range events {
			line, err := event.AppendText(again)
			require.NoError(t, err)
			again = append(line, '\n')
		}
		copies, err := readAll(string(again))
		require.NoError(t, err, "what was read can be written and read again")
		require.Len(t, copies, len(events))
		for i := range events {
			// The line number and the date are not written.
			events[i].Line, copies[i].Line = 0, 0
			events[i].Time, copies[i].Time = events[i].Time%(24*time.Hour), copies[i].Time%(24*time.Hour)
			require.Equal(t, events[i], copies[i])
		}
	})
}
