package custom

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/driver/nvrtc"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/expr"
)

// Kernel is a CUDA kernel of the user: see the documentation of the package for its parameters.
type Kernel struct {
	// PTX is the code. If it is empty, Source is CUDA C++, which NVRTC compiles at the first call on each kind of
	// GPU. The kernel is declared extern "C".
	PTX, Source string
	// Entry is the name of the kernel.
	Entry string
	// CompilerOptions are further options of NVRTC.
	CompilerOptions []string
	// Threads is the number of threads of a block. Zero means 256.
	Threads int
	// Host computes the same on devices that run no kernels. It may be nil.
	Host HostFunc
}

// OnDevice makes a function of a kernel.
func OnDevice(name string, s Signature, k Kernel) *Function {
	var invalid error
	for i, t := range append([]arrow.DataType{s.Result}, s.Arguments...) {
		if _, fixed := t.(arrow.FixedWidthDataType); t != nil && (!fixed || t.ID() == arrow.DICTIONARY) {
			what := fmt.Sprintf("argument %d", i)
			if i == 0 {
				what = "the result"
			}
			invalid = errors.Join(invalid, fmt.Errorf("%s is %v, and kernels take types of a fixed width: %w", what, t, device.ErrNotSupported))
		}
	}
	switch {
	case k.PTX == "" && k.Source == "":
		invalid = errors.Join(invalid, fmt.Errorf("both PTX and Source are empty: %w", device.ErrInvalidValue))
	case k.Entry == "":
		invalid = errors.Join(invalid, fmt.Errorf("the name in Entry is empty, expected that of the kernel: %w", device.ErrInvalidValue))
	case k.Threads < 0:
		invalid = errors.Join(invalid, fmt.Errorf("%d threads, expected zero or more: %w", k.Threads, device.ErrInvalidValue))
	}
	if k.Threads == 0 {
		k.Threads = 256
	}
	return newFunction(name, s, kernelBody{k, &compiled{code: map[device.ComputeCapability]string{}}}, invalid)
}

type kernelBody struct {
	Kernel
	compiled *compiled
}

// compiled is the PTX of a source for each kind of GPU that called it.
type compiled struct {
	mu   sync.Mutex
	code map[device.ComputeCapability]string
}

// codeFor returns the PTX for a device.
func (b kernelBody) codeFor(d *device.Device) (string, error) {
	if b.PTX != "" {
		return b.PTX, nil
	}
	capability := d.Info().ComputeCapability
	b.compiled.mu.Lock()
	defer b.compiled.mu.Unlock()
	if code, ok := b.compiled.code[capability]; ok {
		return code, nil
	}
	code, err := nvrtc.Compile(b.Source, capability.Major, capability.Minor, b.CompilerOptions)
	if err == nil {
		b.compiled.code[capability] = code
	}
	return code, err
}

func (kernelBody) kind() string { return "CUDA kernel" }

func (b kernelBody) run(ctx context.Context, f *Function, operands []*column.Column, options kernels.Options) (*column.Column, error) {
	call, err := op.Begin(ctx, options, operands...)
	if err != nil {
		return nil, err
	}
	if call.OnHost() {
		if b.Host == nil {
			return nil, fmt.Errorf("%s runs no kernels: open a GPU, or set Host: %w", call.Stream.Device(), device.ErrNotSupported)
		}
		return hostBody{b.Host}.run(ctx, f, operands, options)
	}
	rows, err := operands[0].NumRows(ctx)
	if err != nil {
		return nil, err
	}
	l := launch{kernelBody: b, call: &call, f: f, operands: operands, rows: rows}
	return l.result(ctx)
}

// launch is one call of a kernel.
type launch struct {
	kernelBody
	call     *op.Call
	f        *Function
	operands []*column.Column
	rows     int
}

func (l *launch) options() kernels.Options {
	return kernels.Options{Manager: l.call.Manager, Stream: l.call.Stream, Tag: l.call.Tag}
}

// like describes a column with the rows of the operands.
func (l *launch) like(t arrow.DataType) op.Result {
	return op.Result{Type: t, Length: l.operands[0].Len(), RowCount: l.operands[0].RowCount()}
}

// valueName, maskName and operandName are the columns of the tables that expressions read.
const valueName, maskName = "value", "mask"

func operandName(i int) string { return fmt.Sprint("operand ", i) }

// table returns the operands and further columns as a table.
func (l *launch) table(further ...*column.Column) (*buffer.Buffer, error) {
	names := []string{}
	for i := range l.operands {
		names = append(names, operandName(i))
	}
	names = append(names, []string{valueName, maskName}[:len(further)]...)
	columns := append(append([]*column.Column{}, l.operands...), further...)
	rows := buffer.Rows{Count: int64(l.operands[0].Len()), Shared: l.operands[0].RowCount(), Manager: l.call.Manager}
	return op.TableOf(names, columns, rows)
}

// evaluated returns the values of expressions on the operands and further columns.
func (l *launch) evaluated(ctx context.Context, list []expr.Expr, further ...*column.Column) ([]*column.Column, error) {
	table, err := l.table(further...)
	if err != nil {
		return nil, err
	}
	columns, err := expr.Evaluate(ctx, table, list, l.options())
	if err = errors.Join(err, table.Release()); err != nil {
		return nil, errors.Join(err, release.All(columns))
	}
	return columns, nil
}

// arguments returns the columns that the kernel gets: the operands, each with its mask if it sees nulls.
func (l *launch) arguments(ctx context.Context) ([]*column.Column, error) {
	var list []expr.Expr
	for i, c := range l.operands {
		value := expr.Col(operandName(i))
		mask := value.IsValid().Cast(arrow.PrimitiveTypes.Uint8)
		if c.Type().ID() == arrow.BOOL {
			value = value.Cast(arrow.PrimitiveTypes.Uint8)
		}
		list = append(list, value)
		if l.f.signature.SeesNulls {
			list = append(list, mask)
		}
	}
	return l.evaluated(ctx, list)
}

// stored is the type of the results in memory: a byte for a bool.
func (l *launch) stored() arrow.DataType {
	if l.f.signature.Result.ID() == arrow.BOOL {
		return arrow.PrimitiveTypes.Uint8
	}
	return l.f.signature.Result
}

// result launches the kernel and makes a column of its results.
func (l *launch) result(ctx context.Context) (*column.Column, error) {
	arguments, err := l.arguments(ctx)
	if err != nil {
		return nil, err
	}
	written, err := l.written(ctx, arguments)
	if err = errors.Join(err, release.All(arguments)); err != nil {
		return nil, errors.Join(err, release.All(written))
	}
	value := expr.Col(valueName)
	if l.f.signature.Result.ID() == arrow.BOOL {
		value = value.Ne(expr.Lit(uint8(0)))
	}
	if valid := l.valid(); !valid.IsZero() {
		value = expr.If(valid, value, expr.Null(l.f.signature.Result))
	}
	finished, err := l.evaluated(ctx, []expr.Expr{value}, written...)
	if err = errors.Join(err, release.All(written)); err != nil {
		return nil, errors.Join(err, release.All(finished))
	}
	return finished[0], nil
}

// valid is the condition under which a result is not null, or the zero Expr.
func (l *launch) valid() (valid expr.Expr) {
	if l.f.signature.SeesNulls {
		return expr.Col(maskName).Ne(expr.Lit(uint8(0)))
	}
	for i, c := range l.operands {
		if !op.Nullable(c) {
			continue
		}
		condition := expr.Col(operandName(i)).IsValid()
		if valid.IsZero() {
			valid = condition
		} else {
			valid = valid.And(condition)
		}
	}
	return valid
}

// written returns the columns that the kernel writes: the results, and their mask if it sees nulls.
func (l *launch) written(ctx context.Context, arguments []*column.Column) ([]*column.Column, error) {
	var columns []*column.Column
	types := []arrow.DataType{l.stored()}
	if l.f.signature.SeesNulls {
		types = append(types, arrow.PrimitiveTypes.Uint8)
	}
	var outputs []any
	for _, t := range types {
		c, err := l.call.NewColumn(l.like(t), func(op.Buffers) error { return nil })
		if err != nil {
			return nil, errors.Join(err, release.All(columns))
		}
		columns = append(columns, c)
		region, err := c.ValuesRegion()
		if err != nil {
			return nil, errors.Join(err, release.All(columns))
		}
		outputs = append(outputs, kernels.Output(region))
	}
	if l.rows == 0 {
		return columns, nil
	}
	if err := l.launch(ctx, outputs, arguments); err != nil {
		return nil, errors.Join(err, release.All(columns))
	}
	return columns, nil
}

// launch launches the kernel and waits for it.
func (l *launch) launch(ctx context.Context, outputs []any, arguments []*column.Column) error {
	function, err := l.function()
	if err != nil {
		return err
	}
	parameters := outputs
	for _, c := range arguments {
		region, err := c.ValuesRegion()
		if err != nil {
			return err
		}
		parameters = append(parameters, region)
	}
	parameters = append(parameters, uint64(l.rows))
	block := device.Dim3{X: uint32(l.Threads)}
	if err := function.Launch(l.call.Stream, kernels.GridFor(l.rows, l.Threads), block, 0, parameters...); err != nil {
		return err
	}
	return l.call.Stream.Synchronize(ctx)
}

// function returns the compiled kernel of the device.
func (l *launch) function() (*kernels.Function, error) {
	d := l.call.Stream.Device()
	code, err := l.codeFor(d)
	if err != nil {
		return nil, err
	}
	module, err := kernels.LoadCached(d, code)
	if err != nil {
		return nil, err
	}
	function, err := module.Function(l.Entry)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%q: %w", l.Entry, ErrEntry), err)
	}
	return function, nil
}
