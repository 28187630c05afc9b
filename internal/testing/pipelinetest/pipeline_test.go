package pipelinetest_test

import (
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/pipelinetest"
)

// The environment variables that select the pipelines: secondsVariable is the time in
// seconds for drawing new ones on a device other than the host, seedVariable the first
// seed, and processVariable the number of this process among several, which have
// different seeds.
const (
	secondsVariable = "GPUFRAME_PIPELINES_S"
	seedVariable    = "GPUFRAME_PIPELINES_SEED"
	processVariable = "GPUFRAME_SEED"
)

func number(t *testing.T, variable string, otherwise uint64) uint64 {
	text := os.Getenv(variable)
	if text == "" {
		return otherwise
	}
	value, err := strconv.ParseUint(text, 10, 64)
	require.NoError(t, err, variable)
	return value
}

// TestPipelines compares random pipelines on each device with the host, and the host
// with itself. It shrinks a difference to few steps and prints it with its seed.
func TestPipelines(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		host := devicetest.Open(t, "host")
		limits, pipelines := pipelinetest.Limits{Rows: 100, Steps: 6}, uint64(60)
		if dev.Kind() == device.CUDA && !devicetest.Emulated(dev) {
			limits, pipelines = pipelinetest.Limits{Rows: 5000, Steps: 10}, 300
		}
		first, seconds := number(t, seedVariable, number(t, processVariable, 0)<<32+1), number(t, secondsVariable, 0)
		if dev.Kind() == device.Host {
			seconds = 0
		}
		begin := time.Now()
		seed := first
		for ; seed < first+pipelines || time.Since(begin) < time.Duration(seconds)*time.Second; seed++ {
			p, err := pipelinetest.DrawPipeline(t.Context(), host, seed, limits)
			require.NoError(t, err, "%v", p)
			if err = p.Compare(t.Context(), host, dev, seed%4 == 0); err == nil {
				continue
			}
			smallest, difference := p.Shrink(t.Context(), host, dev)
			if difference == nil {
				smallest, difference = p, err // not again
			}
			t.Errorf("%v\ndiffers from the host, %s=%d: %v", smallest, seedVariable, seed, difference)
			return
		}
		t.Logf("%d pipelines, seeds %d to %d", seed-first, first, seed-1)
	})
}
