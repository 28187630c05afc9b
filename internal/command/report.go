package command

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"

	"github.com/gpuframe/gpuframe/memory/replay"
)

// report is the output of mem replay.
type report struct {
	log                    replay.Summary
	name, device, resource string
	runs                   []replay.Result
}

func (r *report) print(w io.Writer) error {
	lines := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	line := func(title, format string, args ...any) {
		fmt.Fprintf(lines, "%s\t%s\n", title, fmt.Sprintf(format, args...))
	}
	first, last := r.runs[0], r.runs[len(r.runs)-1]
	line("log", "%s: %s, %s, %s, %s", r.name, plural(r.log.Allocations, "allocation"), plural(r.log.Frees, "free"),
		plural(r.log.Threads, "thread"), plural(r.log.Streams, "stream"))
	for _, odd := range []struct {
		count      int
		noun, note string
	}{
		{r.log.LoggedFailures, "request", "failed when the log was written and left out"},
		{r.log.UnknownFrees, "free", "of what the log does not show allocated, left out"},
		{r.log.Overlaps, "allocation", "at an address whose free is not logged yet"},
		{r.log.Unfreed, "allocation", "of " + humanize.IBytes(r.log.UnfreedBytes) + " that the log does not free"},
	} {
		if odd.count > 0 {
			line("", "%s %s", plural(odd.count, odd.noun), odd.note)
		}
	}
	line("resource", "%s on %s", r.resource, r.device)
	line("time", "%s", perRequest(first))
	if rest := r.runs[1:]; len(rest) > 0 {
		best := slices.MinFunc(rest, func(a, b replay.Result) int { return int(a.Elapsed - b.Elapsed) })
		line("later", "%s", perRequest(best))
	}
	line("requests", "%s, %s", plural(last.Allocations, "allocation"), plural(last.Frees, "free"))
	line("peak in use", "%s", humanize.IBytes(last.PeakInUse))
	r.reserved(line, last)
	line("failures", "%s", humanize.Comma(int64(last.Failures)))
	if last.FirstFailure != nil {
		line("", "%v", last.FirstFailure)
	}
	return lines.Flush()
}

func (r *report) reserved(line func(title, format string, args ...any), last replay.Result) {
	if !last.KnowsFootprint {
		line("reserved", "what is in use: the resource keeps nothing")
		return
	}
	if last.AtEnd.PeakReserved > 0 {
		line("peak reserved", "%s", humanize.IBytes(last.AtEnd.PeakReserved))
	}
	line("at the peak", "%s in use of %s reserved, %.1f %% fragmentation%s", humanize.IBytes(last.AtPeak.InUse),
		humanize.IBytes(last.AtPeak.Reserved), 100*last.AtPeak.Fragmentation(), largestFree(last.AtPeak))
	line("at the end", "%s in use of %s reserved%s", humanize.IBytes(last.AtEnd.InUse), humanize.IBytes(last.AtEnd.Reserved),
		largestFree(last.AtEnd))
}

func largestFree(m replay.Moment) string {
	if m.LargestFree == 0 {
		return ""
	}
	return ", largest free block " + humanize.IBytes(m.LargestFree)
}

func perRequest(result replay.Result) string {
	requests := result.Allocations + result.Frees + result.Failures
	if requests == 0 {
		return result.Elapsed.Round(time.Microsecond).String()
	}
	return fmt.Sprintf("%v, %.3f µs a request", result.Elapsed.Round(time.Microsecond), result.Elapsed.Seconds()*1e6/float64(requests))
}

func plural(n int, noun string) string {
	return humanize.Comma(int64(n)) + " " + english.PluralWord(n, noun, "")
}
