package flight

import (
	arrowflight "github.com/apache/arrow/go/v17/arrow/flight"
	"google.golang.org/grpc/codes"

	"github.com/gpuframe/gpuframe/internal/arrays/arrowipc"
)

const (
	// schemaBytes is the size of the largest schema that a client accepts.
	schemaBytes = 16 << 20
	// mostFields is the number of fields of a schema with their children.
	mostFields = 20_000
)

// checked is a stream that checks messages before arrow-go reads them.
type checked struct {
	from        arrowflight.DataStreamReader
	schemaBytes int
}

// Recv implements flight.DataStreamReader.
func (c *checked) Recv() (*arrowflight.FlightData, error) {
	message, err := c.from.Recv()
	if err != nil || len(message.GetDataHeader()) == 0 {
		return message, err
	}
	limits := arrowipc.Limits{SchemaBytes: c.schemaBytes, Fields: mostFields}
	if err := arrowipc.CheckMessage(message.GetDataHeader(), message.GetDataBody(), limits); err != nil {
		return nil, refused(codes.InvalidArgument, "a malformed message: %v", err)
	}
	return message, nil
}
