//go:build linux

package share_test

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/testing/await"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
	"github.com/gpuframe/gpuframe/share"
)

func framed(message string) []byte {
	return append(binary.LittleEndian.AppendUint32(nil, uint32(len(message))), message...)
}

// readMessage returns what a peer sent, or an empty string at the end.
func readMessage(connection io.Reader) string {
	var header [4]byte
	if _, err := io.ReadFull(connection, header[:]); err != nil {
		return ""
	}
	message := make([]byte, binary.LittleEndian.Uint32(header[:]))
	if _, err := io.ReadFull(connection, message); err != nil {
		return ""
	}
	return string(message)
}

const hello = `{"id":1,"operation":"hello","version":1}`

// A client that violates the protocol loses its connection; other clients do not notice.
func TestMalformedClients(t *testing.T) {
	mgr := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	server := listen(t, share.ServerOptions{})
	publish(t, server, "t", upload(t, mgr, record(t, 5)))
	client := dial(t, server)
	pipe, other, err := os.Pipe()
	require.NoError(t, err)
	defer pipe.Close()
	defer other.Close()

	for name, test := range map[string]struct {
		send []byte
		want string // in the last answer
	}{
		"nothing":               {nil, ""},
		"garbage":               {[]byte("GET / HTTP/1.1\r\n\r\n"), "protocol"},
		"no bytes":              {framed(""), "protocol"},
		"too many bytes":        {binary.LittleEndian.AppendUint32(nil, 1<<31), "protocol"},
		"half a header":         {[]byte{1, 0}, ""},
		"half a message":        {framed(hello)[:20], ""},
		"no JSON":               {framed("hello"), "protocol"},
		"an unknown field":      {framed(`{"id":1,"operation":"hello","version":1,"more":2}`), "more"},
		"more than a message":   {framed(hello + "{}"), "after the JSON value"},
		"no hello":              {framed(`{"id":1,"operation":"tables"}`), "first request"},
		"no number":             {framed(`{"operation":"hello","version":1}`), "too few"},
		"another version":       {framed(`{"id":1,"operation":"hello","version":2}`), "version 2"},
		"hello, again":          {append(framed(hello), framed(hello)...), "sent again"},
		"no operation":          {append(framed(hello), framed(`{"id":2,"operation":"format"}`)...), "format"},
		"no name":               {append(framed(hello), framed(`{"id":2,"operation":"open"}`)...), "open"},
		"a name on a terminal":  {append(framed(hello), framed(`{"id":2,"operation":"open","name":"\u001b[31m"}`)...), "open"},
		"a reference it lacks":  {append(framed(hello), framed(`{"id":2,"operation":"close","reference":1}`)...), "does not hold reference"},
		"nested without end":    {framed(strings.Repeat("[", 60000)), "protocol"},
		"numbers out of range":  {framed(`{"id":-1,"operation":"hello","version":1}`), "protocol"},
		"a name that is a list": {framed(`{"id":1,"operation":"hello","version":1,"name":[]}`), "protocol"},
	} {
		connection, err := net.Dial("unix", server.Path())
		require.NoError(t, err)
		// The server closes descriptors that a client sends unasked.
		if len(test.send) > 0 {
			_, _, err = connection.(*net.UnixConn).WriteMsgUnix(test.send, syscall.UnixRights(int(pipe.Fd())), nil)
			require.NoError(t, err)
		}
		require.NoError(t, connection.(*net.UnixConn).CloseWrite())
		require.NoError(t, connection.SetReadDeadline(time.Now().Add(await.Limit)))
		last := ""
		for message := readMessage(connection); message != ""; message = readMessage(connection) {
			last = message
		}
		assert.Contains(t, last, test.want, name)
		require.NoError(t, connection.Close())
		_, err = client.Tables(t.Context())
		require.NoError(t, err, name)
	}
	waitFor(t, server, func(s share.Stats) bool { return s.Clients == 1 })
}

// impostor is a server that answers what it likes.
func impostor(t *testing.T, answers ...func(connection *net.UnixConn)) string {
	t.Helper()
	path := socket(t)
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	require.NoError(t, err)
	done := make(chan struct{})
	go func() {
		defer close(done)
		connection, err := listener.AcceptUnix()
		if err != nil {
			return
		}
		defer connection.Close()
		for _, answer := range answers {
			if readMessage(connection) == "" {
				return
			}
			answer(connection)
		}
		_, _ = io.Copy(io.Discard, connection)
	}()
	t.Cleanup(func() {
		require.NoError(t, listener.Close())
		<-done
	})
	return path
}

func saying(message string, descriptors ...int) func(*net.UnixConn) {
	return func(connection *net.UnixConn) {
		_, _, _ = connection.WriteMsgUnix(framed(message), syscall.UnixRights(descriptors...), nil)
	}
}

// A server is checked before anything is mapped.
func TestMalformedServers(t *testing.T) {
	mgr := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	maker := devicetest.Manager(t, mgr.Device(), memory.Options{Resource: memory.NewSharedResource(mgr.Device())})
	block, err := maker.Allocate(100, memory.AllocateOptions{})
	if err != nil {
		t.Skip(err)
	}
	defer block.Release()
	shared, err := block.Share(memory.ShareOptions{})
	require.NoError(t, err)
	memoryFile := os.NewFile(uintptr(shared.Descriptor), "")
	defer memoryFile.Close()
	pipe, other, err := os.Pipe()
	require.NoError(t, err)
	defer pipe.Close()
	defer other.Close()
	good, bad := shared.Descriptor, int(pipe.Fd())

	fine := fmt.Sprintf(`{"id":2,"reference":1,"table":{"name":"t","rows":2,"serial":1,"device":{"kind":"host","uuid":"%032x"},"schema":{"fields":[{"name":"n","format":"l"}]},`+
		`"blocks":[%d],"columns":[{"length":2,"nulls":0,"buffers":[{"block":-1},{"block":0,"bytes":16}]}]}}`,
		0, shared.Bytes)
	changed := func(from, to string) string {
		require.Contains(t, fine, from)
		return strings.Replace(fine, from, to, 1)
	}
	for name, test := range map[string]struct {
		answer      string
		descriptors []int
		fine        bool
	}{
		"as it should be":          {fine, []int{good}, true},
		"no descriptor":            {fine, nil, false},
		"too many descriptors":     {fine, []int{good, good}, false},
		"very many descriptors":    {fine, make([]int, 200), false},
		"another descriptor":       {fine, []int{bad}, false},
		"a longer block":           {changed(fmt.Sprint(shared.Bytes), fmt.Sprint(2*shared.Bytes)), []int{good}, false},
		"a crooked block":          {changed(fmt.Sprint(shared.Bytes), "4097"), []int{good}, false},
		"an empty block":           {changed(fmt.Sprint(shared.Bytes), "0"), []int{good}, false},
		"a buffer past the block":  {changed(`"bytes":16`, fmt.Sprintf(`"bytes":%d`, shared.Bytes+1)), []int{good}, false},
		"an offset past the block": {changed(`"bytes":16`, `"bytes":16,"offset":18446744073709551608`), []int{good}, false},
		"bytes less than none":     {changed(`"bytes":16`, `"bytes":-16`), []int{good}, false},
		"a block there is not":     {changed(`"block":0`, `"block":1`), []int{good}, false},
		"a buffer that is short":   {changed(`"bytes":16`, `"bytes":15`), []int{good}, false},
		"too few buffers":          {changed(`{"block":-1},`, ``), []int{good}, false},
		"a child too many":         {changed(`"nulls":0`, `"nulls":0,"children":[{"length":2,"nulls":0}]`), []int{good}, false},
		"a dictionary too many":    {changed(`"nulls":0`, `"nulls":0,"dictionary":{"length":2,"nulls":0}`), []int{good}, false},
		"more nulls than elements": {changed(`"nulls":0`, `"nulls":3`), []int{good}, false},
		"a negative offset":        {changed(`"length":2`, `"length":2,"offset":-1`), []int{good}, false},
		"an offset that overflows": {changed(`"length":2`, `"length":2,"offset":9223372036854775807`), []int{good}, false},
		"other rows":               {changed(`"rows":2`, `"rows":3`), []int{good}, false},
		"no serial number":         {changed(`"serial":1`, `"serial":0`), []int{good}, false},
		"no reference":             {changed(`"reference":1`, `"reference":0`), []int{good}, false},
		"another table":            {changed(`"name":"t"`, `"name":"u"`), []int{good}, false},
		"another device":           {changed(`"kind":"host"`, `"kind":"cuda"`), []int{good}, false},
		"no device":                {changed(`"kind":"host"`, `"kind":"disk"`), []int{good}, false},
		"no schema":                {changed(`"format":"l"`, `"format":"ll"`), []int{good}, false},
		"no columns":               {changed(`"columns":[`, `"columns":[],"name":"t","serial":2}},{"x":[`), []int{good}, false},
		"no table":                 {`{"id":2}`, nil, false},
		"not an answer":            {`[]`, []int{good}, false},
		"no name in an error":      {`{"id":2,"error":{}}`, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			requireNothingLeft(t)
			for i := range test.descriptors {
				if test.descriptors[i] == 0 {
					test.descriptors[i] = bad
				}
			}
			path := impostor(t, saying(`{"id":1,"version":1}`), saying(test.answer, test.descriptors...))
			client, err := share.DialContext(t.Context(), path)
			require.NoError(t, err)
			table, err := client.Open(t.Context(), mgr, "t")
			if test.fine {
				require.NoError(t, err)
				require.NoError(t, table.Release())
			} else {
				require.Error(t, err)
				require.Nil(t, table)
			}
			require.NoError(t, client.Close())
		})
	}
	for name, greeting := range map[string]string{
		"another version": `{"id":1,"version":2}`, "an error": `{"id":1,"error":{"code":"too many","message":"x"}}`, "another number": `{"id":0,"error":{"code":"?","message":"x"}}`,
	} {
		_, err := share.DialContext(t.Context(), impostor(t, saying(greeting)))
		assert.Error(t, err, name)
	}
}
