package kerneltest

// The syntax tree of a module, as the parser builds it. Names are not resolved.

type module struct {
	version, target string
	variables       []*variable
	functions       map[string]*function
	source          string
}

// variable is a declaration of memory.
type variable struct {
	space  string // global, const, shared, local, param
	name   string
	typ    typ
	align  int
	count  int // elements; 0 of an extern array
	array  bool
	extern bool
	init   []argument
	line   int
}

func (v *variable) bytes() int { return v.count * v.typ.bytes() }

// parameter is a formal parameter: memory or a register.
type parameter struct {
	variable
	register bool
}

type function struct {
	name       string
	entry      bool
	results    []parameter
	parameters []parameter
	maxThreads int
	required   [3]int // .reqntid
	body       []statement
	hasBody    bool
	line, last int
}

type statementKind uint8

const (
	instructionStatement statementKind = iota
	openStatement
	closeStatement
	labelStatement
	registerStatement
	variableStatement
	targetsStatement
)

type statement struct {
	kind statementKind
	line int
	text string // of an instruction, for messages

	// label, or the label of targets
	label string
	// targets of .branchtargets
	targets []string
	// registers
	names     []string
	registers typ
	variable  *variable

	// an instruction
	guard     string
	guardNot  bool
	opcode    string
	modifiers []string
	arguments []argument
}

type argumentKind uint8

const (
	nameArgument argumentKind = iota
	numberArgument
	addressArgument // [name + offset]
	vectorArgument  // {a, b}
	listArgument    // (a, b) of a call
)

// argument is an operand as it is written.
type argument struct {
	kind   argumentKind
	name   string
	not    bool   // !name
	number string // with its sign
	pair   string // name|pair
	offset int64
	// hasOffset distinguishes name+offset from name.
	parts []argument
}
