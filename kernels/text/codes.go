package text

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"errors"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/memory"
)

// Hex is the bytes of a string or binary as hexadecimal digits in lower case.
func Hex(e expr.Expr) expr.Expr { return expr.Apply(coding{toHex}, e) }

// Unhex is the bytes of hexadecimal digits of either case, as binary. It is null for other
// strings.
func Unhex(e expr.Expr) expr.Expr { return expr.Apply(coding{fromHex}, e) }

// Base64 is the bytes of a string or binary in base64 with padding: base64.StdEncoding.
func Base64(e expr.Expr) expr.Expr { return expr.Apply(coding{toBase64}, e) }

// Unbase64 is the bytes of a string in base64 with padding, as binary. It is null for other
// strings, also for those with line breaks.
func Unbase64(e expr.Expr) expr.Expr { return expr.Apply(coding{fromBase64}, e) }

type coding struct{ kind codeKind }

// Name implements expr.Operator.
func (c coding) Name() string {
	return [...]string{toHex: "hex", fromHex: "unhex", toBase64: "base64", fromBase64: "unbase64"}[c.kind]
}

func (c coding) decodes() bool { return c.kind == fromHex || c.kind == fromBase64 }

// Result implements expr.Operator.
func (c coding) Result(operands []arrow.DataType) (arrow.DataType, error) {
	t, err := plain(operands[0])
	if err != nil {
		return nil, err
	}
	large := t.ID() == arrow.LARGE_STRING || t.ID() == arrow.LARGE_BINARY
	switch {
	case c.decodes() && large:
		return arrow.BinaryTypes.LargeBinary, nil
	case c.decodes():
		return arrow.BinaryTypes.Binary, nil
	case large:
		return arrow.BinaryTypes.LargeString, nil
	}
	return arrow.BinaryTypes.String, nil
}

// Run implements expr.Operator.
func (c coding) Run(ctx context.Context, operands []*column.Column, options kernels.Options) (*column.Column, error) {
	return perValue(ctx, operands[0], options, c.column)
}

func (c coding) column(ctx context.Context, operand *column.Column, options kernels.Options) (*column.Column, error) {
	result, err := c.Result([]arrow.DataType{operand.Type()})
	if err != nil {
		return nil, err
	}
	call, err := op.Begin(ctx, options, operand)
	if err != nil {
		return nil, err
	}
	in, err := textsOf(&call, operand)
	if err != nil {
		return nil, err
	}
	if operand.Len() == 0 {
		return empty(&call, operand, result)
	}
	m, err := newMaker(in.nulls, result)
	if err != nil {
		return nil, err
	}
	m.nulled = c.decodes()
	if call.OnHost() {
		read, err := in.reader()
		if err != nil {
			return nil, err
		}
		return m.onHost(&call, func(to []byte, _, row int) ([]byte, bool) { return c.append(to, read(row)) })
	}
	return m.measuredWithNulls(&call, func(lengths, valid memory.Slice[uint8]) error {
		return launchRows(&call, "codes", "code_measure", operand.Len(), lengths, valid, in.argument(), uint32(c.kind))
	}, func(to memory.Slice[uint8], ends memory.Slice[int64]) error {
		return launchRows(&call, "codes", "code_write", operand.Len(), to, ends, in.argument(), uint32(c.kind))
	})
}

// append appends a result on the host, or returns false for a null.
func (c coding) append(to, text []byte) ([]byte, bool) {
	var decoded []byte
	var err error
	switch c.kind {
	case toHex:
		return hex.AppendEncode(to, text), true
	case toBase64:
		return base64.StdEncoding.AppendEncode(to, text), true
	case fromHex:
		decoded, err = hex.DecodeString(string(text))
	case fromBase64:
		for _, c := range text {
			if c == '\n' || c == '\r' { // Go skips them
				return to, false
			}
		}
		decoded, err = base64.StdEncoding.DecodeString(string(text))
	}
	return append(to, decoded...), err == nil
}

// launchRows launches a kernel with a thread for each row, in whole words of a bitmap.
func launchRows(call *op.Call, file, entry string, rows int, arguments ...any) error {
	kernel, err := call.Kernel(&set, file, entry)
	if err != nil {
		return err
	}
	return kernel.Launch(call.Stream, kernels.GridFor((rows+63)/64*64, threads), block256, 0, arguments...)
}

// measuredWithNulls is onDevice for results that may be null although the operand is not.
// measure also writes the bitmap.
func (m *maker) measuredWithNulls(call *op.Call, measure func(lengths, valid memory.Slice[uint8]) error, write func(to memory.Slice[uint8], ends memory.Slice[int64]) error) (*column.Column, error) {
	rows := m.column.Len()
	block, scratch, err := call.Scratch(8*uint64(rows), op.BitmapBytes(rows))
	if err != nil {
		return nil, err
	}
	var written *column.Column
	if err = measure(scratch[0], scratch[1]); err == nil {
		with := *m
		if m.nulled {
			with.valid, with.bit = scratch[1], 0
		}
		written, err = with.measured(call, scratch[0], write)
	}
	return release.OnError(written, errors.Join(err), block.Release())
}
