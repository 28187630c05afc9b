package gpuframe

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/io/source"
	"github.com/gpuframe/gpuframe/internal/query/exec"
	"github.com/gpuframe/gpuframe/internal/query/plan"
)

// Profile records the work of each operation in one run of a query: see [Profiled]. The zero value
// is ready for use. It is read after the query has run.
type Profile struct {
	mu   sync.Mutex
	plan plan.Node
	run  exec.Profile
}

// start takes the profile for a run. That of a nil Profile is nil.
func (p *Profile) start(n plan.Node) (*exec.Profile, error) {
	if p == nil {
		return nil, nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.plan != nil {
		return nil, fmt.Errorf("gpuframe: the Profile has recorded another run: use a new one: %w", device.ErrInvalidValue)
	}
	p.plan = n
	return &p.run, nil
}

// OperationProfile is what one operation of a plan did in a run.
type OperationProfile struct {
	// Name describes the operation as Explain prints it.
	Name string
	// Rows and Bytes are those of the tables that it yielded, Tables is their number.
	Rows, Tables int64
	Bytes        uint64
	// Time is that of the operation without its inputs.
	Time time.Duration
	// Begin and End are those of the first and the last call of the operation. They are
	// zero if it was not called.
	Begin, End time.Time
}

// Operations returns what each operation did, an operation before its inputs. It is empty
// before the query has run.
func (p *Profile) Operations() (list []OperationProfile) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.plan == nil {
		return nil
	}
	plan.Walk(p.plan, func(n plan.Node) {
		counts := p.run.Of(n)
		operation := OperationProfile{Name: n.String(), Rows: counts.Rows, Tables: counts.Tables, Bytes: counts.Bytes, Time: p.run.Exclusive(n)}
		for _, c := range counts.Calls {
			begin := p.run.Begin().Add(c.Begin)
			if operation.Begin.IsZero() || begin.Before(operation.Begin) {
				operation.Begin = begin
			}
			if end := begin.Add(c.Duration); end.After(operation.End) {
				operation.End = end
			}
		}
		list = append(list, operation)
	})
	return list
}

// String returns the plan with, for each operation, the rows and bytes that it yielded, the
// rows that were expected, its own time, and the most memory that was in use when it
// returned a table. It is empty before the query has run.
func (p *Profile) String() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.plan == nil {
		return ""
	}
	analysis := plan.NewAnalysis()
	return plan.Format(p.plan, func(n plan.Node) string {
		counts := p.run.Of(n)
		parts := []string{fmt.Sprintf("%s rows in %d tables", humanize.Comma(counts.Rows), counts.Tables)}
		if size := analysis.SizeOf(n); size.Rows >= 0 && size.Rows != counts.Rows {
			parts = append(parts, humanize.Comma(size.Rows)+" expected")
		}
		parts = append(parts, humanize.IBytes(counts.Bytes), p.run.Exclusive(n).Round(time.Microsecond).String(), humanize.IBytes(counts.InUse)+" in use")
		if skipped := counts.Source.SkippedRowGroups.Load(); skipped > 0 {
			parts = append(parts, fmt.Sprintf("%d of %d row groups skipped%s", skipped, skipped+counts.Source.RowGroups.Load(), reasons(&counts.Source)))
		}
		if skipped := counts.Source.SkippedPages.Load(); skipped > 0 {
			parts = append(parts, fmt.Sprintf("%d of %d pages skipped", skipped, skipped+counts.Source.Pages.Load()))
		}
		if n := counts.Source.UnmatchedRows.Load(); n > 0 {
			parts = append(parts, fmt.Sprintf("%s of %s rows left out by dictionaries of %s values", humanize.Comma(n), humanize.Comma(counts.Source.MatchedRows.Load()), humanize.Comma(counts.Source.MatchedValues.Load())))
		}
		if read := counts.Source.FileBytes.Load(); read > 0 {
			parts = append(parts, humanize.IBytes(uint64(read))+" read from files")
		}
		if requests := counts.Source.Requests.Load(); requests > 0 {
			hedges := ""
			if n := counts.Source.Hedges.Load(); n > 0 {
				hedges = fmt.Sprintf(" and %s second ones", humanize.Comma(n))
			}
			parts = append(parts, fmt.Sprintf("%s from stores by %s requests%s", humanize.IBytes(uint64(counts.Source.RequestBytes.Load())), humanize.Comma(requests), hedges))
		}
		if cached := counts.Source.CachedBytes.Load(); cached > 0 {
			parts = append(parts, fmt.Sprintf("%s from the cache instead of %s requests", humanize.IBytes(uint64(cached)), humanize.Comma(counts.Source.CachedReads.Load())))
		}
		if failure := counts.Source.CacheFailure.Load(); failure != nil {
			parts = append(parts, (*failure).Error())
		}
		return "[" + strings.Join(parts, ", ") + "]"
	})
}

// reasons is how many row groups were left out by dictionaries, Bloom filters and page indices.
func reasons(c *source.Counters) string {
	var parts []string
	if n := c.SkippedByDictionary.Load(); n > 0 {
		parts = append(parts, fmt.Sprintf("%d by dictionaries", n))
	}
	if n := c.SkippedByFilter.Load(); n > 0 {
		parts = append(parts, fmt.Sprintf("%d by Bloom filters", n))
	}
	if n := c.SkippedByIndex.Load(); n > 0 {
		parts = append(parts, fmt.Sprintf("%d by page indices", n))
	}
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, ", ") + ")"
}

// traceEvent is an event of the trace format of Chrome: see "Trace Event Format" at
// chromium.org. Times are in microseconds.
type traceEvent struct {
	Name     string  `json:"name"`
	Phase    string  `json:"ph"`
	Begin    float64 `json:"ts"`
	Duration float64 `json:"dur"`
	Process  int     `json:"pid"`
	Thread   int     `json:"tid"`
}

// WriteTrace writes the run as a trace in JSON, which Perfetto (ui.perfetto.dev) and
// chrome://tracing open. Each call of an operation contains those of its inputs.
func (p *Profile) WriteTrace(to io.Writer) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	events := []traceEvent{}
	if p.plan != nil {
		plan.Walk(p.plan, func(n plan.Node) {
			for _, c := range p.run.Of(n).Calls {
				events = append(events, traceEvent{n.String(), "X", microseconds(c.Begin), microseconds(c.Duration), 1, 1})
			}
		})
	}
	if err := json.NewEncoder(to).Encode(map[string]any{"traceEvents": events}); err != nil {
		return fmt.Errorf("gpuframe: write trace: %w", err)
	}
	return nil
}

func microseconds(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }
