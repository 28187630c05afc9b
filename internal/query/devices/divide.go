package devices

import (
	"context"
	"fmt"
	"slices"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/internal/query/exec"
	"github.com/gpuframe/gpuframe/internal/query/plan"
	"github.com/gpuframe/gpuframe/kernels/exchange"
	"github.com/gpuframe/gpuframe/memory"
)

// Dividing is the least work that is divided among devices, and whether tables stay on the devices that
// have them.
type Dividing struct {
	// LeastRows and LeastBytes are the size of a scan, Few is the number of rows of an exchange.
	LeastRows, LeastBytes, Few int64
	Stay                       bool
}

// UsualDividing is the choice of an engine without options.
var UsualDividing = Dividing{LeastBytes: leastDivided, Few: usualFewRows, Stay: true}

// DividingFrom divides scans from a number of rows on, also those of tables in the memory of a device.
func DividingFrom(rows int64) Dividing {
	return Dividing{LeastRows: rows, Few: min(rows, usualFewRows)}
}

// leastDivided is the number of bytes in device memory from which scans are usually divided. Half of it
// moves over PCIe 5 in 0.6 ms.
const leastDivided = 64 << 20

// usualFewRows is the number of rows that are not worth dividing. Operations on as many take tens of
// microseconds on a GPU, most of it to begin them; so does each step of an exchange.
const usualFewRows = 1 << 16

// Configure gives the settings of a query the devices.
func (s *Set) Configure(settings *exec.Settings) {
	settings.Manager, settings.Spilling = s.First().Manager, &s.First().Spilling
	for _, m := range s.Members[1:] {
		settings.Others = append(settings.Others, exec.Member{Manager: m.Manager, Spilling: &m.Spilling})
	}
	if len(s.Members) == 1 {
		return
	}
	tag := settings.Tag
	settings.Turns, settings.Stay, settings.FewRows = &exec.Turns{}, s.Divide.Stay, s.Divide.Few
	settings.Move = func(ctx context.Context, table *buffer.Buffer, m *memory.Manager) (*buffer.Buffer, error) {
		return exchange.Copy(ctx, table, m, exchange.Options{Tag: tag})
	}
	settings.Scatter = func(ctx context.Context, parts []*buffer.Buffer, to []*memory.Manager) ([]*buffer.Buffer, error) {
		return exchange.Scatter(ctx, parts, to, exchange.Options{Tag: tag})
	}
}

// TakeStream gives a query the stream that it has until GiveStream. Several devices have those of their managers.
func (s *Set) TakeStream(settings *exec.Settings) {
	if len(s.Members) == 1 {
		settings.Stream = s.First().Streams.Take()
	}
}

// GiveStream ends what TakeStream began.
func (s *Set) GiveStream(settings *exec.Settings) {
	if len(s.Members) == 1 {
		s.First().Streams.Give(settings.Stream)
	}
}

// Optimize returns the plan that is run, made without some passes of the optimizer.
func (s *Set) Optimize(ctx context.Context, n plan.Node, without ...string) (plan.Node, error) {
	if len(s.Members) > 1 {
		without = append(slices.Clone(without), "late columns") // rows have numbers on one device
	}
	optimized, err := plan.OptimizeWithout(ctx, n, exec.Facts{}, without...)
	if err != nil || len(s.Members) == 1 {
		return optimized, err
	}
	way, pinned, err := s.wayOfRows()
	if err != nil {
		return nil, err
	}
	least := s.First().Manager.Budget()
	for _, m := range s.Members {
		least = min(least, m.Manager.Budget())
	}
	return plan.Distribute(optimized, plan.Devices{
		Count: len(s.Members), Way: way, Pinned: pinned, Memory: least, First: s.First().Device,
		LeastRows: s.Divide.LeastRows, LeastBytes: s.Divide.LeastBytes, Stay: s.Divide.Stay,
	})
}

// wayOfRows describes how rows move between the devices: by peer copies if each device has access
// to the memory of all others. isPinned is set if some move through pinned memory.
func (s *Set) wayOfRows() (way string, isPinned bool, err error) {
	peers, pinned := 0, 0
	for _, from := range s.Members {
		for _, to := range s.Members {
			route, err := exchange.RouteBetween(from.Device, to.Device)
			if err != nil {
				return "", false, err
			}
			switch route.Means {
			case exchange.PeerCopy:
				peers++
			case exchange.Pinned:
				pinned++
			}
		}
	}
	switch {
	case pinned == 0:
		return "peer copies", false, nil
	case peers == 0:
		return "pinned memory", true, nil
	}
	return fmt.Sprintf("peer copies, and pinned memory for %d of %d pairs of devices", pinned, pinned+peers), true, nil
}
