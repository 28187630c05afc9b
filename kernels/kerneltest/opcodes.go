package kerneltest

// handlerOf returns the function that compiles an opcode, or nil.
func handlerOf(opcode string) func(*ins) {
	switch opcode {
	case "add", "sub":
		return addHandler
	case "addc", "subc":
		return carryHandler
	case "mul":
		return mulHandler
	case "mad", "fma":
		return madHandler
	case "madc":
		return madCarryHandler
	case "div", "rem":
		return divHandler
	case "min", "max":
		return minMaxHandler
	case "abs", "neg":
		return absHandler
	case "and", "or", "xor", "not", "cnot":
		return logicHandler
	case "shl", "shr":
		return shiftHandler
	case "shf":
		return funnelHandler
	case "popc", "clz", "brev", "bfind":
		return bitsHandler
	case "bfe", "bfi":
		return fieldHandler
	case "prmt":
		return permuteHandler
	case "lop3":
		return lop3Handler
	case "sad":
		return sadHandler
	case "sqrt", "rcp", "rsqrt", "sin", "cos", "ex2", "lg2":
		return functionHandler
	case "copysign":
		return copysignHandler
	case "testp":
		return testHandler
	case "setp", "set":
		return setHandler
	case "selp":
		return selectHandler
	case "slct":
		return slctHandler
	case "mov":
		return movHandler
	case "cvt":
		return cvtHandler
	case "cvta":
		return cvtaHandler
	case "isspacep":
		return isspaceHandler
	case "ld", "ldu":
		return loadHandler
	case "st":
		return storeHandler
	case "atom", "red":
		return atomHandler
	case "prefetch", "prefetchu", "membar", "fence", "nanosleep":
		return nothingHandler
	case "bra":
		return branchHandler
	case "brx":
		return indexedHandler
	case "call":
		return callHandler
	case "ret":
		return returnHandler
	case "exit":
		return exitHandler
	case "trap", "brkpt":
		return trapHandler
	case "bar", "barrier":
		return barrierHandler
	case "vote":
		return voteHandler
	case "shfl":
		return shuffleHandler
	case "match":
		return matchHandler
	case "mma":
		return mmaHandler
	case "cp":
		return copyHandler
	case "activemask":
		return activeHandler
	}
	return nil
}
