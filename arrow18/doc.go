// Package arrow18 passes records between gpuframe and programs that use arrow-go v18, without
// a copy of their buffers. It is a separate module: gpuframe itself uses arrow-go v17.
//
//	record, err := arrow18.Import(theirs)           // from v18 to v17, the same memory
//	defer record.Release()
//	frame, err := gpu.Records(nil, record).Filter(price.Gt(50)).Collect(ctx)
//	defer frame.Release()
//	ours, err := arrow18.Record(ctx, frame)         // a v18 record
//	defer ours.Release()
//
// [Import] and [Export] convert records, [ImportReader] and [ExportReader] readers.
// [Record] returns a frame, [Reader] the batches of a query.
//
// # Ownership
//
// The result of a conversion refers to the buffers of its argument and retains them. Both
// are released independently, in any order; the memory is returned to its allocator after the
// last release. It must not change.
//
// # Types
//
// Schemas travel in Arrow's IPC format, so types, nested fields and metadata are those that
// the other version reads. An extension type that the other version has not registered becomes
// its storage type, with the name of the extension in the metadata of the field; on the way
// back it is the extension type again. v17 has no decimals of 32 and 64 bits. An extension type that stores
// dictionaries is refused, because arrow-go writes no schema of it.
//
// # Errors
//
// Every error is an [*Error], which names the column.
package arrow18
