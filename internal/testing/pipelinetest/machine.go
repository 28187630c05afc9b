package pipelinetest

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/memory"
	"github.com/gpuframe/gpuframe/memory/adaptor"
)

// machine is a device with the registers of a pipeline.
type machine struct {
	manager *memory.Manager
	streams [2]*device.Stream
	tables  [registers]*buffer.Buffer
}

// newMachine loads the initial tables of a pipeline into poisoned memory.
func newMachine(dev *device.Device, tables []arrow.Record) (m *machine, err error) {
	m = new(machine)
	defer func() {
		if err != nil {
			err = errors.Join(err, m.close())
		}
	}()
	resource := adaptor.NewPoison(memory.NewDriverResource(dev), adaptor.PoisonOptions{})
	if m.manager, err = memory.NewManager(dev, memory.Options{Resource: resource, TrackAllocations: true}); err != nil {
		return m, err
	}
	for i := range m.streams {
		if m.streams[i], err = dev.NewStream(); err != nil {
			return m, err
		}
	}
	for i, record := range tables {
		if m.tables[i], err = buffer.FromRecord(m.manager, record); err != nil {
			return m, err
		}
	}
	return m, nil
}

// run runs a step. It returns a panic as an error.
func (m *machine) run(ctx context.Context, s Step) (err error) {
	defer func() {
		if problem := recover(); problem != nil {
			err = &panicked{fmt.Errorf("panic: %v\n%s", problem, debug.Stack())}
		}
	}()
	// Shrinking may have dropped the step that fills the register.
	if m.tables[s.From] == nil || m.tables[s.With] == nil {
		return errNoTable
	}
	result, err := s.Run(ctx, Inputs{
		Table: m.tables[s.From], Other: m.tables[s.With], Manager: m.manager,
		Options: kernels.Options{Stream: m.streams[s.Stream]},
	})
	if err != nil {
		return err
	}
	err = m.tables[s.To].Release()
	m.tables[s.To] = result
	return err
}

var errNoTable = errors.New("the register has no table")

// panicked is the error of an operator that panicked.
type panicked struct{ error }

// record fetches a register; nil if it is empty.
func (m *machine) record(ctx context.Context, register int) (arrow.Record, error) {
	if m.tables[register] == nil {
		return nil, nil
	}
	return m.tables[register].Record(ctx)
}

// close releases everything. It returns an error if memory is still held.
func (m *machine) close() (err error) {
	for _, table := range m.tables {
		err = errors.Join(err, table.Release())
	}
	for _, stream := range m.streams {
		if stream != nil {
			err = errors.Join(err, stream.Close())
		}
	}
	if m.manager != nil {
		err = errors.Join(err, m.manager.Close())
	}
	return err
}
