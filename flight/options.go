package flight

import (
	"fmt"
	"io/fs"
	"time"

	"github.com/gpuframe/gpuframe/device"
)

// Options configure [NewServer]. The zero Options serve all callers.
type Options struct {
	// Clients may call the server, each with its token. Without clients, all callers are one
	// client with the name "anonymous" and the budget of the engine.
	Clients []ClientAccess
	// Files, if it is set, returns the file system for the documents of a client: that of
	// [os.Root.FS], from which no link leads out, for example. Without Files documents read no files.
	Files func(client string) fs.FS
	// Limits bound what clients can use.
	Limits Limits
}

// ClientAccess is a client that may call a server.
type ClientAccess struct {
	// Name is the name of its tenant: see [gpuframe.Engine.Tenant].
	Name string
	// Token authorizes a call that has the header "authorization: Bearer TOKEN".
	Token string
	// Budget is the device memory that the client's queries and tables may use, in bytes.
	// Zero is the engine's budget.
	Budget uint64
}

// Limits bound what the clients of a server can use. A zero field means the default.
type Limits struct {
	// MessageBytes is the size of the largest message that the server receives, 16 MiB by
	// default. The calls of a client hold at most Streams of them in host memory, and its
	// uploads four times as much again for compressed batches.
	MessageBytes int
	// BatchBytes is about the size of the batches that the server sends, 2 MiB by default:
	// clients of gRPC refuse messages above 4 MiB unless they are configured.
	BatchBytes int
	// DocumentBytes is the size of the largest query document, command of Flight SQL and
	// schema of an upload, 1 MiB by default.
	DocumentBytes int
	// Streams is the number of calls that may run at a time for each client, 64 by default,
	// and AllStreams for all of them, 1,024 by default.
	Streams, AllStreams int
	// Uploads is the number of uploads that may run at a time for each client, 8 by default.
	// They count as streams too.
	Uploads int
	// Connections is the number of connections that the server keeps open, 4,096 by default.
	// It closes further ones immediately.
	Connections int
	// Tables is the number of tables that a client may upload, 64 by default. Their bytes
	// are bounded by the client's budget, their columns by DocumentBytes.
	Tables int
	// Idle is how long the server waits for a client to take or to send a message, one
	// minute by default. Stream is how long a call may take, one hour by default.
	Idle, Stream time.Duration
	// Handshake is how long a connection may take to begin, 20 s by default. Alive is how long
	// a connection may be silent before the server asks whether the client is still there, and
	// how long the client may take to answer, 30 s by default. A client that is disconnected
	// connects again with its next call.
	Handshake, Alive time.Duration
}

// anonymous is the client of a server without clients.
const anonymous = "anonymous"

// withDefaults returns limits without zero fields.
func (l Limits) withDefaults() (Limits, error) {
	for _, each := range []struct {
		name     string
		value    *int
		standard int
	}{
		{"MessageBytes", &l.MessageBytes, 16 << 20}, {"BatchBytes", &l.BatchBytes, 2 << 20},
		{"DocumentBytes", &l.DocumentBytes, 1 << 20}, {"Streams", &l.Streams, 64},
		{"AllStreams", &l.AllStreams, 1024}, {"Uploads", &l.Uploads, 8},
		{"Connections", &l.Connections, 4096}, {"Tables", &l.Tables, 64},
	} {
		if *each.value < 0 {
			return l, fmt.Errorf("options: Limits.%s is %d, expected 0 for the default or more: %w", each.name, *each.value, device.ErrInvalidValue)
		}
		if *each.value == 0 {
			*each.value = each.standard
		}
	}
	for _, each := range []struct {
		name     string
		value    *time.Duration
		standard time.Duration
	}{
		{"Idle", &l.Idle, time.Minute}, {"Stream", &l.Stream, time.Hour},
		{"Handshake", &l.Handshake, 20 * time.Second}, {"Alive", &l.Alive, 30 * time.Second},
	} {
		if *each.value < 0 {
			return l, fmt.Errorf("options: Limits.%s is %v, expected 0 for the default or more: %w", each.name, *each.value, device.ErrInvalidValue)
		}
		if *each.value == 0 {
			*each.value = each.standard
		}
	}
	return l, nil
}

// check reports clients without a name or token, and equal ones.
func (o Options) check() error {
	names, tokens := map[string]bool{}, map[string]bool{}
	for i, c := range o.Clients {
		switch {
		case c.Name == "" || c.Token == "":
			return fmt.Errorf("options: Clients[%d] has no name or no token: %w", i, device.ErrInvalidValue)
		case names[c.Name]:
			return fmt.Errorf("options: Clients[%d]: the name %q is given twice: %w", i, c.Name, device.ErrInvalidValue)
		case tokens[c.Token]:
			return fmt.Errorf("options: Clients[%d], %q, has the token of another client: %w", i, c.Name, device.ErrInvalidValue)
		}
		names[c.Name], tokens[c.Token] = true, true
	}
	return nil
}
