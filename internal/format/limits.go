package format

// What is taken from a library that may be broken. No schema that means well
// comes near these.
const (
	// MaximumDepth is how many levels deep types may be nested; a type without
	// children is one level.
	MaximumDepth = 64
	// MaximumChildren is how many children one type may have.
	MaximumChildren = 1 << 16
	// MaximumFields is how many fields there may be in a whole schema.
	MaximumFields = 1 << 18
	// MaximumText is how many bytes a format string or a name may have.
	MaximumText = 1 << 20
	// MaximumMetadata is how many bytes a metadata blob may have.
	MaximumMetadata = 1 << 26
	// MaximumPairs is how many pairs a metadata blob may have.
	MaximumPairs = 1 << 16
	// MaximumTotal is how many bytes all texts and blobs of a schema may have
	// together.
	MaximumTotal = 1 << 28
	// MaximumTimeZone is how many bytes the name of a time zone may have.
	MaximumTimeZone = 1 << 10
)

// Bits of ArrowSchema.flags. Others mean nothing here.
const (
	FlagDictionaryOrdered = 1 << 0
	FlagNullable          = 1 << 1
	FlagMapKeysSorted     = 1 << 2
)
