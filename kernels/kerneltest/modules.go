package kerneltest

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gpuframe/gpuframe/device/backend"
)

// loaded is a module on the device.
type loaded struct {
	globals map[string]*symbol
	kernels map[string]*program
	memory  []backend.Pointer
}

type kernel struct {
	program *program
	dynamic int // limit of dynamic shared memory per launch
}

// ModuleLoad implements backend.Modules.
func (e *emulator) ModuleLoad(code []byte) (backend.Module, error) {
	if err := e.usable(); err != nil {
		return 0, err
	}
	text := string(bytes.TrimRight(code, "\x00"))
	if strings.HasPrefix(text, "\x7fELF") {
		return 0, fmt.Errorf("kerneltest: ModuleLoad: the code is a cubin, the emulator takes PTX: %w", backend.ErrInvalidCode)
	}
	if strings.TrimSpace(text) == "" {
		return 0, fmt.Errorf("kerneltest: ModuleLoad: the image is empty: %w", backend.ErrInvalidCode)
	}
	parsed, err := images.read(text)
	if err != nil {
		return 0, err
	}
	if err := assembleOnce(text); err != nil {
		return 0, err
	}
	l, err := e.place(parsed)
	if err != nil {
		return 0, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.handles++
	handle := backend.Module(e.handles)
	e.modules[handle] = l
	return handle, nil
}

// place gives a module its memory on the device.
func (e *emulator) place(parsed *image) (*loaded, error) {
	l := &loaded{globals: map[string]*symbol{}, kernels: parsed.kernels}
	if parsed.module == nil {
		return l, nil
	}
	err := e.placeGlobals(l, parsed.variables)
	if err == nil {
		l.kernels, err = compileKernels(parsed.module, l.globals)
	}
	if err != nil {
		e.drop(l)
		return nil, err
	}
	return l, nil
}

// placeGlobals allocates the module's variables and writes their initial values.
func (e *emulator) placeGlobals(l *loaded, variables []*variable) (err error) {
	defer recovered(&err)
	for _, v := range variables {
		pointer, err := e.Alloc(uint64(max(v.bytes(), 1)))
		if err != nil {
			return err
		}
		l.memory = append(l.memory, pointer)
		l.globals[v.name] = &symbol{kind: globalSymbol, typ: v.typ, address: uint64(pointer), bytes: v.bytes()}
	}
	for _, v := range variables {
		to := l.globals[v.name]
		l.initialize(v, to.address)
		if v.space == "const" {
			e.memory.add(to.address, uint64(v.bytes()), true)
		}
	}
	return nil
}

func (l *loaded) initialize(v *variable, at uint64) {
	if len(v.init) > v.count {
		refuse(v.line, "%s has %d elements and %d values", v.name, v.count, len(v.init))
	}
	in := &ins{statement: &statement{line: v.line, text: v.name}}
	each := v.typ.bytes()
	for i := range v.count {
		var value uint64
		if i < len(v.init) {
			switch a := v.init[i]; {
			case a.kind == numberArgument:
				value = in.number(a.number, v.typ)
			case a.kind == nameArgument && l.globals[a.name] != nil && v.typ.bits == 64:
				value = l.globals[a.name].address + uint64(a.offset)
			default:
				refuse(v.line, "a value of %s is not a number and not the address of a variable", v.name)
			}
		}
		writeWord(pointerAt(at+uint64(i*each)), each, value)
	}
}

func (e *emulator) drop(l *loaded) {
	for _, pointer := range l.memory {
		_ = e.Free(pointer)
	}
}

// ModuleUnload implements backend.Modules.
func (e *emulator) ModuleUnload(handle backend.Module) error {
	if err := e.usable(); err != nil {
		return err
	}
	e.mu.Lock()
	l := e.modules[handle]
	delete(e.modules, handle)
	e.mu.Unlock()
	if l == nil {
		return invalid("ModuleUnload", "the module is not loaded")
	}
	e.drop(l)
	return nil
}

// ModuleFunction implements backend.Modules.
func (e *emulator) ModuleFunction(handle backend.Module, name string) (backend.Function, error) {
	if err := e.usable(); err != nil {
		return 0, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	l := e.modules[handle]
	if l == nil {
		return 0, invalid("ModuleFunction", "the module is not loaded")
	}
	p := l.kernels[name]
	if p == nil {
		return 0, fmt.Errorf("kerneltest: no kernel %q: %w", name, backend.ErrNotFound)
	}
	e.handles++
	e.functions[backend.Function(e.handles)] = &kernel{program: p, dynamic: sharedBytes - p.staticShared}
	return backend.Function(e.handles), nil
}

func (e *emulator) kernel(function backend.Function) (kernel, error) {
	if err := e.usable(); err != nil {
		return kernel{}, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	k := e.functions[function]
	if k == nil {
		return kernel{}, invalid("Launch", "function %d is not of this device", function)
	}
	return *k, nil
}

func (p *program) threads() int {
	if p.maxThreads > 0 {
		return min(p.maxThreads, mostThreads)
	}
	return mostThreads
}

// FunctionAttribute implements backend.Modules.
func (e *emulator) FunctionAttribute(function backend.Function, attribute backend.FunctionAttribute) (int, error) {
	k, err := e.kernel(function)
	if err != nil {
		return 0, err
	}
	switch attribute {
	case backend.FunctionMaxThreadsPerBlock:
		return k.program.threads(), nil
	case backend.FunctionStaticSharedBytes:
		return k.program.staticShared, nil
	case backend.FunctionConstantBytes:
		return 0, nil
	case backend.FunctionLocalBytes:
		return k.program.localBytes, nil
	case backend.FunctionRegisters:
		return min(k.program.rows, 255), nil
	case backend.FunctionPTXVersion:
		version, _ := strconv.ParseFloat(k.program.version, 64)
		return int(version*10 + 0.5), nil
	case backend.FunctionBinaryVersion:
		return 70, nil
	case backend.FunctionMaxDynamicSharedBytes:
		return k.dynamic, nil
	}
	return 0, fmt.Errorf("kerneltest: FunctionAttribute %d: %w", attribute, backend.ErrNotSupported)
}

// FunctionSetAttribute implements backend.Modules.
func (e *emulator) FunctionSetAttribute(function backend.Function, attribute backend.FunctionAttribute, value int) error {
	if err := e.usable(); err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	k := e.functions[function]
	if k == nil {
		return invalid("FunctionSetAttribute", "function %d is not of this device", function)
	}
	if attribute != backend.FunctionMaxDynamicSharedBytes {
		return nil
	}
	if value < 0 || value+k.program.staticShared > sharedBytesOptIn {
		return invalid("FunctionSetAttribute", "%d bytes of dynamic plus %d bytes of static shared memory: a block has at most %d",
			value, k.program.staticShared, sharedBytesOptIn)
	}
	k.dynamic = value
	return nil
}

// FunctionParameters implements backend.Modules.
func (e *emulator) FunctionParameters(function backend.Function) ([]backend.Parameter, error) {
	k, err := e.kernel(function)
	if err != nil {
		return nil, err
	}
	parameters := make([]backend.Parameter, len(k.program.parameters))
	for i, p := range k.program.parameters {
		parameters[i] = backend.Parameter{Offset: p.offset, Bytes: p.bytes}
	}
	return parameters, nil
}

// Occupancy implements backend.Modules.
func (e *emulator) Occupancy(function backend.Function, blockThreads int, shared uint32) (int, error) {
	k, err := e.kernel(function)
	if err != nil {
		return 0, err
	}
	if blockThreads < 1 || blockThreads > k.program.threads() {
		return 0, invalid("Occupancy", "%d threads of at most %d", blockThreads, k.program.threads())
	}
	blocks := min(e.options.BlocksPerMultiprocessor, mostPerProcessor/blockThreads)
	if each := int(shared) + k.program.staticShared; each > 0 {
		blocks = min(blocks, sharedBytesOptIn/each)
	}
	return blocks, nil
}

// pack copies the arguments to the offsets of the kernel's parameters.
func (p *program) pack(slots []uint64, starts []uint32) ([]byte, error) {
	if len(starts) != len(p.parameters) {
		return nil, invalid("Launch", "%s takes %d arguments and got %d", p.name, len(p.parameters), len(starts))
	}
	all := make([]byte, p.parameterBytes)
	for i, at := range p.parameters {
		words := slots[starts[i]:]
		if need := (at.bytes + 7) / 8; len(words) < need {
			return nil, invalid("Launch", "argument %d of %s has %d words, not %d", i, p.name, len(words), need)
		}
		var raw []byte
		for _, word := range words[:(at.bytes+7)/8] {
			raw = binary.LittleEndian.AppendUint64(raw, word)
		}
		copy(all[at.offset:at.offset+at.bytes], raw)
	}
	return slices.Clip(all), nil
}
