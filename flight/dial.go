package flight

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"sync/atomic"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowflight "github.com/apache/arrow/go/v17/arrow/flight"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/arrays/arrowipc"
)

// DialOptions configure [Dial].
type DialOptions struct {
	// Token is sent with each call, if it is set.
	Token string
	// TLS is the configuration of an encrypted connection. Without it the connection is not
	// encrypted, and the token is readable on its way.
	TLS *tls.Config
	// MessageBytes is the size of the largest message that the client receives, 64 MiB by
	// default.
	MessageBytes int
}

// Client calls a server: one of this package, or another Flight server if its tables have
// descriptors with a path. Its methods may be called from any goroutine.
type Client struct {
	flight arrowflight.Client
	token  string
}

// Table describes a table of a server.
type Table struct {
	Name   string
	Schema *arrow.Schema
	// Rows is the number of rows, or -1 if the server has not counted them.
	Rows int64
}

// Dial makes a client of the server at an address, such as "localhost:8815". It does not wait
// for the connection; the first call reports a server that cannot be reached.
//
// # Ownership
//
// The caller closes the client.
func Dial(address string, options DialOptions) (*Client, error) {
	if options.MessageBytes < 0 {
		return nil, fmt.Errorf("flight: dial %s: MessageBytes is %d, expected 0 for the default or more: %w", address, options.MessageBytes, device.ErrInvalidValue)
	}
	secure := insecure.NewCredentials()
	if options.TLS != nil {
		secure = credentials.NewTLS(options.TLS)
	}
	most := options.MessageBytes
	if most == 0 {
		most = 64 << 20
	}
	c, err := arrowflight.NewClientWithMiddleware(address, nil, nil,
		grpc.WithTransportCredentials(secure), grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(most)))
	if err != nil {
		return nil, fmt.Errorf("flight: dial %s: %w", address, err)
	}
	return &Client{flight: c, token: options.Token}, nil
}

// Close closes the connection. Readers that are open end with an error.
func (c *Client) Close() error { return c.flight.Close() }

// with adds the token to a call.
func (c *Client) with(ctx context.Context) context.Context {
	if c.token == "" {
		return ctx
	}
	return metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+c.token)
}

// Tables lists the tables that the client sees.
func (c *Client) Tables(ctx context.Context) (list []Table, err error) {
	ctx, cancel := context.WithCancel(c.with(ctx))
	defer cancel()
	stream, err := c.flight.ListFlights(ctx, &arrowflight.Criteria{})
	if err != nil {
		return nil, fmt.Errorf("flight: list tables: %w", err)
	}
	for {
		info, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return list, nil
		}
		if err != nil {
			return nil, fmt.Errorf("flight: list tables: %w", err)
		}
		schema, err := schemaOfTable(info.GetSchema())
		if err != nil {
			return nil, fmt.Errorf("flight: list tables: the schema of %q: %w", info.GetFlightDescriptor().GetPath(), err)
		}
		for _, name := range info.GetFlightDescriptor().GetPath() {
			list = append(list, Table{Name: name, Schema: schema, Rows: info.GetTotalRecords()})
		}
	}
}

// schemaOfTable decodes the schema of a table, which is a stream without batches.
func schemaOfTable(encoded []byte) (*arrow.Schema, error) {
	limits := arrowipc.Limits{SchemaBytes: schemaBytes, Fields: mostFields}
	reader, err := arrowipc.Stream(bytes.NewReader(encoded), arrowipc.Options{Limits: limits})
	if err != nil {
		return nil, err
	}
	defer reader.Release()
	return reader.Schema(), nil
}

// Read streams a table. Each record is valid until the next one is read.
//
// # Ownership
//
// The caller releases the reader, which ends the call. The call also ends at the reader's end
// and when the context is done.
func (c *Client) Read(ctx context.Context, table string) (array.RecordReader, error) {
	text, err := ticketOf(table)
	if err != nil {
		return nil, fmt.Errorf("flight: read %q: %w", table, err)
	}
	return c.get(ctx, text)
}

// Query runs a query document on the server and streams its result, as [Client.Read] does.
func (c *Client) Query(ctx context.Context, document []byte) (array.RecordReader, error) {
	return c.get(ctx, document)
}

func (c *Client) get(ctx context.Context, text []byte) (array.RecordReader, error) {
	ctx, cancel := context.WithCancel(c.with(ctx))
	stream, err := c.flight.DoGet(ctx, &arrowflight.Ticket{Ticket: text})
	if err != nil {
		cancel()
		return nil, fmt.Errorf("flight: read: %w", err)
	}
	inner, err := arrowflight.NewRecordReader(&checked{from: stream, schemaBytes: schemaBytes},
		ipc.WithAllocator(arrowipc.Bounded{Allocator: allocator, Most: arrowipc.MostBuffer}))
	if err != nil {
		cancel()
		return nil, fmt.Errorf("flight: read: %w", err)
	}
	r := &reader{Reader: inner, cancel: cancel}
	r.references.Store(1)
	return r, nil
}

// reader is a reader that ends its call with its last release.
type reader struct {
	*arrowflight.Reader
	cancel     context.CancelFunc
	references atomic.Int64
}

// Retain implements array.RecordReader.
func (r *reader) Retain() { r.references.Add(1) }

// Release implements array.RecordReader.
func (r *reader) Release() {
	if r.references.Add(-1) == 0 {
		r.cancel()
		r.Reader.Release()
	}
}

// uploadBytes is about the size of the messages of an upload.
const uploadBytes = 2 << 20

// Upload sends a table, which replaces the client's table of that name when all of it has
// arrived.
func (c *Client) Upload(ctx context.Context, table string, from array.RecordReader) error {
	if err := c.upload(ctx, table, from); err != nil {
		return fmt.Errorf("flight: upload %q: %w", table, err)
	}
	return nil
}

func (c *Client) upload(ctx context.Context, table string, from array.RecordReader) error {
	ctx, cancel := context.WithCancel(c.with(ctx))
	defer cancel()
	stream, err := c.flight.DoPut(ctx)
	if err != nil {
		return err
	}
	writer := arrowflight.NewRecordWriter(stream, ipc.WithSchema(from.Schema()))
	writer.SetFlightDescriptor(&arrowflight.FlightDescriptor{Type: arrowflight.DescriptorPATH, Path: []string{table}})
	for writing := true; writing && from.Next(); {
		record := from.Record()
		for _, part := range parts(record, uploadBytes) {
			rows := record.NewSlice(part.from, part.to)
			err := writer.Write(rows)
			rows.Release()
			if err != nil { // the server's reason follows
				writing = false
				break
			}
		}
	}
	if err := from.Err(); err != nil {
		return err
	}
	// The writer's error is that the stream has ended. Recv returns the reason.
	closing := errors.Join(writer.Close(), stream.CloseSend())
	switch _, err := stream.Recv(); {
	case errors.Is(err, io.EOF):
		return errors.Join(errors.New("the server has not confirmed the table"), closing)
	case err != nil:
		return err
	}
	return nil
}

// Drop releases a table that the client has uploaded.
func (c *Client) Drop(ctx context.Context, table string) error {
	if _, err := c.do(ctx, "drop", []byte(table)); err != nil {
		return fmt.Errorf("flight: drop %q: %w", table, err)
	}
	return nil
}

// Explain returns the plan of a query document on the server.
func (c *Client) Explain(ctx context.Context, document []byte) (string, error) {
	text, err := c.do(ctx, "explain", document)
	if err != nil {
		return "", fmt.Errorf("flight: explain: %w", err)
	}
	return string(text), nil
}

// do returns the body of the first result of an action.
func (c *Client) do(ctx context.Context, action string, body []byte) ([]byte, error) {
	ctx, cancel := context.WithCancel(c.with(ctx))
	defer cancel()
	stream, err := c.flight.DoAction(ctx, &arrowflight.Action{Type: action, Body: body})
	if err != nil {
		return nil, err
	}
	result, err := stream.Recv()
	if err != nil {
		return nil, err
	}
	return result.GetBody(), nil
}
