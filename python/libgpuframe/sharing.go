//go:build cgo && !(386 || arm || mips || mipsle)

package libgpuframe

// #include <stdint.h>
import "C"

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory"
	"github.com/gpuframe/gpuframe/share"
)

// gpuframe_serve serves tables on a Unix socket until the handle is released. The mode is
// that of the socket; zero stands for 0600. The patience with clients is in seconds.
//
//export gpuframe_serve
func gpuframe_serve(path *C.char, mode C.uint32_t, patience C.double, out *C.uint64_t) *C.char {
	return guarded(func() error {
		limit, err := seconds("patience", float64(patience))
		if err != nil {
			return err
		}
		server, err := share.Listen(C.GoString(path), share.ServerOptions{Mode: os.FileMode(mode), Patience: limit})
		if err != nil {
			return err
		}
		*out = C.uint64_t(objects.add(server))
		return nil
	})
}

// gpuframe_publish publishes a table under a name.
//
//export gpuframe_publish
func gpuframe_publish(h C.uint64_t, name *C.char, table C.uint64_t) *C.char {
	return withTable(table, func(b *buffer.Buffer) error {
		server, err := the[*share.Server](handle(h))
		if err != nil {
			return err
		}
		return server.Publish(context.Background(), C.GoString(name), b)
	})
}

// gpuframe_withdraw withdraws a published table. Clients keep the tables that they have
// opened.
//
//export gpuframe_withdraw
func gpuframe_withdraw(h C.uint64_t, name *C.char) *C.char {
	return guarded(func() error {
		server, err := the[*share.Server](handle(h))
		if err != nil {
			return err
		}
		return server.Withdraw(C.GoString(name))
	})
}

// seconds returns the duration of an argument of Python's.
func seconds(argument string, number float64) (time.Duration, error) {
	if !(number > 0) { // or not a number
		return 0, fmt.Errorf("%s is %v, expected a positive number of seconds: %w", argument, number, device.ErrInvalidValue)
	}
	const longest = 1e9
	return time.Duration(min(number, longest) * float64(time.Second)), nil
}

type sharedAnswer struct {
	Name       string `json:"name"`
	Rows       int64  `json:"rows"`
	Columns    int    `json:"columns"`
	Bytes      uint64 `json:"bytes"`
	Device     string `json:"device"`
	Clients    int    `json:"clients"`
	References int    `json:"references"`
	Withdrawn  bool   `json:"withdrawn"`
}

func sharedAnswerOf(info share.TableInfo) sharedAnswer {
	return sharedAnswer{Name: info.Name, Rows: info.Rows, Columns: info.Columns, Bytes: info.Bytes, Device: info.Device.String()}
}

// gpuframe_served answers with a list of a server's tables and their numbers of clients.
//
//export gpuframe_served
func gpuframe_served(h C.uint64_t, answer **C.char) *C.char {
	return guarded(func() error {
		server, err := the[*share.Server](handle(h))
		if err != nil {
			return err
		}
		all := []sharedAnswer{}
		for _, each := range server.Stats().Tables {
			a := sharedAnswerOf(each.TableInfo)
			a.Clients, a.References, a.Withdrawn = each.Clients, each.References, each.Withdrawn
			all = append(all, a)
		}
		*answer = encoded(all)
		return nil
	})
}

// gpuframe_connect connects to a server on this machine until the handle is released. It waits
// for the server for timeout seconds.
//
//export gpuframe_connect
func gpuframe_connect(path *C.char, timeout C.double, out *C.uint64_t) *C.char {
	return guarded(func() error {
		limit, err := seconds("timeout", float64(timeout))
		if err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		defer cancel()
		client, err := share.DialContext(ctx, C.GoString(path))
		if err != nil {
			return err
		}
		*out = C.uint64_t(objects.add(client))
		return nil
	})
}

// gpuframe_client_tables answers with a list of the tables that a client may open.
//
//export gpuframe_client_tables
func gpuframe_client_tables(h C.uint64_t, answer **C.char) *C.char {
	return guarded(func() error {
		client, err := the[*share.Client](handle(h))
		if err != nil {
			return err
		}
		tables, err := client.Tables(context.Background())
		if err != nil {
			return err
		}
		all := []sharedAnswer{}
		for _, each := range tables {
			all = append(all, sharedAnswerOf(each))
		}
		*answer = encoded(all)
		return nil
	})
}

// gpuframe_client_open opens a table. Each column is mapped on first use. The memory
// counts in the statistics of a manager on the table's device; zero stands for the
// device's manager.
//
//export gpuframe_client_open
func gpuframe_client_open(h, into C.uint64_t, name *C.char, out *C.uint64_t) *C.char {
	return guarded(func() error {
		client, err := the[*share.Client](handle(h))
		if err != nil {
			return err
		}
		m, err := managerFor(client, handle(into), C.GoString(name))
		if err != nil {
			return err
		}
		table, err := client.OpenTable(context.Background(), m, C.GoString(name))
		if err != nil {
			return err
		}
		*out = C.uint64_t(objects.add(table))
		return nil
	})
}

func managerFor(client *share.Client, chosen handle, name string) (*memory.Manager, error) {
	if chosen != 0 {
		return the[*memory.Manager](chosen)
	}
	tables, err := client.Tables(context.Background())
	if err != nil {
		return nil, err
	}
	for _, each := range tables {
		if each.Name != name {
			continue
		}
		if each.Device.Kind == 0 {
			return manager("host")
		}
		dev, err := each.Device.Name()
		if err != nil {
			return nil, err
		}
		return manager(dev)
	}
	return nil, fmt.Errorf("%q: %w", name, share.ErrNotFound)
}

// describeShared describes a table without mapping its memory.
func describeShared(t *share.Table) tableAnswer {
	a := tableAnswer{Rows: t.NumRows(), Bytes: t.Bytes(), Columns: []fieldAnswer{}}
	if t.Device().Kind != 0 {
		a.Device, _ = t.Device().Name()
	}
	for _, field := range t.Schema().Fields() {
		a.Columns = append(a.Columns, fieldOf(field))
	}
	return a
}
