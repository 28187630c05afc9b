package flight

import (
	"errors"
	"time"

	arrowflight "github.com/apache/arrow/go/v17/arrow/flight"
	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/internal/arrays/arrowipc"
)

// WaitIdle waits until no call runs and nothing waits for a client.
func WaitIdle(s *Server) {
	WaitRunning(s, 0)
	s.writers.Wait()
}

// HoldTimers stops the clock of waits for clients until expire is called. From then on every
// wait is over at once. Call it before the server has calls.
func HoldTimers(s *Server) (expire func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	over := make(chan time.Time)
	s.timer = func(time.Duration) (<-chan time.Time, func() bool) {
		return over, func() bool { return true }
	}
	return func() { close(over) }
}

// WaitRunning waits until as many calls run.
func WaitRunning(s *Server, calls int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.running != calls {
		s.changed.Wait()
	}
}

// PeakBytes returns the most device memory that each client had in use.
func PeakBytes(s *Server) map[string]uint64 {
	peaks := map[string]uint64{}
	for name, c := range s.clients {
		peaks[name] = c.engine.Manager().Stats().Peak
	}
	return peaks
}

// Recorded has the messages that a writer sent to it.
type Recorded = recorded

// Messages returns the messages.
func (r *recorded) Messages() []*arrowflight.FlightData { return r.list }

// WideSchema is a schema with a field that has two children, which are the same field, as have
// they, and so on: 2 to the power of depth fields in a few hundred bytes.
func WideSchema(depth int) []byte {
	b := flatbuffers.NewBuilder(0)
	name := b.CreateString("f")
	var field flatbuffers.UOffsetT
	for level := range depth {
		var children flatbuffers.UOffsetT
		if level > 0 {
			children = pair(b, field)
		}
		b.StartObject(7)
		b.PrependUOffsetTSlot(0, name, 0)
		if level > 0 {
			b.PrependUOffsetTSlot(5, children, 0)
		}
		field = b.EndObject()
	}
	return schemaOf(b, pair(b, field))
}

// CyclicSchema is a schema with a field that is its own child: the offset of the child wraps.
func CyclicSchema() []byte {
	b := flatbuffers.NewBuilder(0)
	name := b.CreateString("f")
	b.StartVector(4, 1, 4)
	b.PrependUint32(0) // replaced below
	children := b.EndVector(1)
	b.StartObject(7)
	b.PrependUOffsetTSlot(0, name, 0)
	b.PrependUOffsetTSlot(5, children, 0)
	field := b.EndObject()
	text := schemaOf(b, pair(b, field))
	end := flatbuffers.UOffsetT(len(text))
	element, target := end-children+4, end-field // after the length of the list
	flatbuffers.WriteUOffsetT(text[element:], target-element)
	return text
}

// pair makes a list of a field and itself.
func pair(b *flatbuffers.Builder, field flatbuffers.UOffsetT) flatbuffers.UOffsetT {
	b.StartVector(4, 2, 4)
	b.PrependUOffsetT(field)
	b.PrependUOffsetT(field)
	return b.EndVector(2)
}

// schemaOf makes a message with a schema of fields.
func schemaOf(b *flatbuffers.Builder, fields flatbuffers.UOffsetT) []byte {
	b.StartObject(4)
	b.PrependUOffsetTSlot(1, fields, 0)
	schema := b.EndObject()
	b.StartObject(5)
	b.PrependInt16Slot(0, 4, 0)
	b.PrependByteSlot(1, byte(arrowipc.SchemaMessage), 0)
	b.PrependUOffsetTSlot(2, schema, 0)
	b.Finish(b.EndObject())
	return b.FinishedBytes()
}

// Opened opens a table for a client and closes it.
func Opened(s *Server, client, table string) error {
	r := &request{}
	_, err := s.table(s.clients[client], table, r)
	return errors.Join(err, r.close())
}

// Reserve begins the upload of a table of a client, and store ends it.
func Reserve(s *Server, client, table string) (store func(*gpuframe.Frame, error) error, err error) {
	c := s.clients[client]
	isNew, err := s.reserveTable(c, table)
	if err != nil {
		return nil, err
	}
	return func(frame *gpuframe.Frame, err error) error { return s.storeTable(c, table, isNew, frame, err) }, nil
}

// Engine returns the engine of a client.
func Engine(s *Server, client string) *gpuframe.Engine { return s.clients[client].engine }
