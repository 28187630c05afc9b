package kerneltest

import "unsafe"

type space uint8

const (
	genericSpace space = iota
	globalSpace
	constSpace
	sharedSpace
	localSpace
	parameterSpace
)

// addressing is the address operand of an instruction.
type addressing struct {
	space    space
	base     source
	narrow   bool // the base has 32 bits
	offset   uint64
	volatile bool
}

func (in *ins) space() space {
	switch in.oneOf("global", "const", "shared", "local", "param") {
	case "global":
		return globalSpace
	case "const":
		return constSpace
	case "shared":
		in.take("cta")
		return sharedSpace
	case "local":
		return localSpace
	case "param":
		in.take("entry")
		in.take("func")
		return parameterSpace
	}
	return genericSpace
}

// address compiles [name+offset].
func (in *ins) address(a argument, s space) addressing {
	if a.kind != addressArgument {
		in.fail("expected an address in brackets")
	}
	if a.number != "" {
		return addressing{space: s, base: constant(in.number(a.number, b64)), offset: uint64(a.offset)}
	}
	declared := in.scope.find(a.name)
	if declared == nil {
		declared = in.c.moduleShared(a.name)
	}
	if declared == nil {
		in.fail("%s is not declared", a.name)
	}
	if declared.kind == registerSymbol {
		in.read(a.name)
		if declared.typ.bits < 32 || declared.typ.float() {
			in.fail("%s is not an address", a.name)
		}
		return addressing{space: s, base: source{row: declared.row}, narrow: declared.typ.bits == 32, offset: uint64(a.offset)}
	}
	own := map[symbolKind]space{kernelParameterSymbol: parameterSpace, localParameterSymbol: parameterSpace,
		sharedSymbol: sharedSpace, localSymbol: localSpace, globalSymbol: globalSpace}
	right, known := own[declared.kind]
	if !known || s != right && !(s == constSpace && right == globalSpace) && !(s == genericSpace && right == globalSpace) {
		in.fail("%s is in another space", a.name)
	}
	return addressing{space: s, base: in.addressOf(declared, a.offset, ^uint64(0))}
}

func (a *addressing) at(row *[lanes]uint64, lane int) uint64 {
	x := row[lane] + a.offset
	if a.narrow {
		x &= 0xffffffff
	}
	return x
}

// at returns the bytes that a lane accesses.
//
//go:norace
//go:nocheckptr
func (w *warp) at(a *addressing, address uint64, lane, bytes int, writes bool) unsafe.Pointer {
	if address&uint64(bytes-1) != 0 {
		w.fault(lane, ErrAlignment, "address %#x is not aligned to the %d bytes of the access", address, bytes)
	}
	s := a.space
	if s == genericSpace {
		switch address >> windowShift {
		case sharedWindow >> windowShift:
			s, address = sharedSpace, address-sharedWindow
		case localWindow >> windowShift:
			s, address = localSpace, address-localWindow
		}
	}
	switch s {
	case sharedSpace:
		return w.inside(w.block.shared, address, lane, bytes, "shared memory")
	case localSpace:
		each := w.block.launch.program.localBytes
		return w.inside(w.local[lane*each:(lane+1)*each], address, lane, bytes, "local memory")
	case parameterSpace:
		if address >= callParameters {
			each := w.block.launch.program.localBytes
			return w.inside(w.local[lane*each:(lane+1)*each], address-callParameters, lane, bytes, "parameters of a call")
		}
		if writes {
			w.fault(lane, ErrAddress, "a store to the kernel's parameters")
		}
		return w.inside(w.block.launch.parameters, address, lane, bytes, "kernel parameters")
	}
	return w.global(address, lane, bytes, writes)
}

//go:norace
//go:nocheckptr
func (w *warp) inside(memory []byte, address uint64, lane, bytes int, region string) unsafe.Pointer {
	if address > uint64(len(memory)) || uint64(bytes) > uint64(len(memory))-address {
		w.fault(lane, ErrAddress, "%d bytes at %#x of the %d bytes of %s", bytes, address, len(memory), region)
	}
	return unsafe.Pointer(&memory[address])
}

//go:norace
//go:nocheckptr
func (w *warp) global(address uint64, lane, bytes int, writes bool) unsafe.Pointer {
	cached := &w.block.launch.cache[w.pcOfCurrent()]
	if address < cached.base || address+uint64(bytes) > cached.end {
		allocation, ok := w.block.launch.memory.find(address)
		if !ok {
			w.outside(address, lane, bytes)
		}
		if address+uint64(bytes) > allocation.end {
			w.fault(lane, ErrAddress, "%d bytes at %#x, byte %d of an allocation of %d bytes", bytes, address, address-allocation.base, allocation.end-allocation.base)
		}
		*cached = allocation
	}
	if writes && cached.readOnly {
		w.fault(lane, ErrAddress, "a store to constant memory at %#x", address)
	}
	return pointerAt(address)
}

// pointerAt reinterprets the word as a pointer, as package host does.
func pointerAt(address uint64) unsafe.Pointer {
	p := uintptr(address)
	return *(*unsafe.Pointer)(unsafe.Pointer(&p))
}

func (w *warp) pcOfCurrent() int {
	code := w.block.launch.program.code
	return int((uintptr(unsafe.Pointer(w.current)) - uintptr(unsafe.Pointer(&code[0]))) / unsafe.Sizeof(code[0]))
}

func (w *warp) outside(address uint64, lane, bytes int) {
	before, after := w.block.launch.memory.near(address)
	switch {
	case address < 4096:
		w.fault(lane, ErrAddress, "%d bytes at %#x: a null pointer with an offset", bytes, address)
	case before.end != 0 && address-before.end < 1<<20:
		w.fault(lane, ErrAddress, "%d bytes at %#x, %d bytes after the end of an allocation of %d bytes", bytes, address, address-before.end, before.end-before.base)
	case after.end != 0 && after.base-address < 1<<20:
		w.fault(lane, ErrAddress, "%d bytes at %#x, %d bytes before an allocation of %d bytes", bytes, address, after.base-address, after.end-after.base)
	}
	w.fault(lane, ErrAddress, "%d bytes at %#x, which is not device memory", bytes, address)
}

// readWord and writeWord access aligned words.
func readWord(p unsafe.Pointer, bytes int) uint64 {
	switch bytes {
	case 1:
		return uint64(*(*uint8)(p))
	case 2:
		return uint64(*(*uint16)(p))
	case 4:
		return uint64(*(*uint32)(p))
	}
	return *(*uint64)(p)
}

func writeWord(p unsafe.Pointer, bytes int, x uint64) {
	switch bytes {
	case 1:
		*(*uint8)(p) = uint8(x)
	case 2:
		*(*uint16)(p) = uint16(x)
	case 4:
		*(*uint32)(p) = uint32(x)
	default:
		*(*uint64)(p) = x
	}
}
