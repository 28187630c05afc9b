package selection

import (
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/op/kernelset"
	"github.com/gpuframe/gpuframe/kernels"
)

// togetherRows is the most rows of which the values of several columns are taken by one launch. The
// kernels of single columns read indices of their width alone, and take over when a launch takes less
// time than the values.
const togetherRows = 1 << 17

// together are columns of few rows whose values are not taken yet.
type together struct {
	source *source
	jobs   []takeJob
}

// takeJob are the arguments of takeDirect.
type takeJob struct {
	out, outValid, values column.Bytes
	valid                 bits
	width                 int
}

// takeTogether takes values with those of other columns, no later than the next round of
// runDeferred. Nothing reads them before.
func (g *gatherer) takeTogether(job takeJob, s *source) error {
	t := &g.together
	if t.source != s || len(t.jobs) == mostTogether {
		if err := g.takeRest(); err != nil {
			return err
		}
		t.source = s
	}
	t.jobs = append(t.jobs, job)
	return nil
}

// takeRest takes the values of the columns that wait.
func (g *gatherer) takeRest() error {
	s, jobs := g.together.source, g.together.jobs
	g.together = together{}
	switch len(jobs) {
	case 0:
		return nil
	case 1:
		j := &jobs[0]
		return g.takeDirect(j.out, j.outValid, j.values, j.valid, j.width, 0, s)
	}
	var columns togetherLayout
	each := rowsEach
	for i, j := range jobs {
		columns.column[i] = takenLayout{out: j.out, outValid: j.outValid, values: j.values, valid: j.valid.bytes, validAt: j.valid.at, width: uint64(j.width)}
		if j.width == 16 {
			each = rowsEach / 2
		}
	}
	argument := kernelset.NewWords(len(jobs) * takenLayoutWords)
	columns.addTo(argument)
	f, err := g.call.Kernel(&perKernel, takeFile, "take_together")
	if err != nil {
		return err
	}
	grid := kernels.GridFor(s.capacity, blockThreads*each)
	grid.Y = uint32(len(jobs))
	return f.Launch(g.call.Stream, grid, device.Dim3{X: blockThreads}, 0, s.anyArguments(argument)...)
}
