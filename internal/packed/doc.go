// Package packed has columns in fewer bits: for tables in host memory that a device reads over its link, and unpacks at
// many times the rate of the link.
//
//	p, err := packed.NewPacker([]arrow.DataType{arrow.PrimitiveTypes.Int64}, allocator)
//	columns, memory, err := p.Pack(ctx, [][]arrow.Array{{keys}})
//	unpacked, err := packed.Unpack(ctx, manager, columns, packed.Options{})
//
// # Form
//
// A column is blocks of [BlockRows] rows. A block has tiles of [TileRows] rows, each with a description of 32 bytes at
// the beginning of the block, and its data behind them. Each tile takes the least bits of
//
//	offsets  value = reference + factor · code     codes of one width, 0 for a constant
//	deltas   value = value before + factor + code  sorted keys
//	runs     a bit for each row that begins a run, and the codes of the runs
//	wide     decimals of more than 64 bits, as they are
//
// The factor is the greatest common divisor: quantities of 1.00 to 50.00 have codes of 6 bits. Floats with a few digits
// are integers and a power of ten, if a division gives each of them exactly. Strings are codes of a dictionary of the
// column, or lengths with the strings at the end of the block; each tile knows how many bytes of strings are before it,
// so all tiles are unpacked independently. A tile with nulls has a bitmap. [Block.Low] and [Block.High] let filters
// leave out blocks.
//
// # Executors
//
// [Column.Array] unpacks on the host. On other devices [Copy] brings blocks over in one transfer, and two kernels unpack
// all columns, with 256 threads for a tile: unpack_values, and unpack_texts, which also writes offsets. Neither needs a
// result of another tile.
//
// # Words
//
// [WordPacker] packs memory of a device as integers without their meaning, on the device: tables that are spilled. Blocks
// of words are blocks of integers, so the same kernel unpacks them.
//
// # Damage
//
// Both executors compare each place, width and length with the block before they use it. A block that is not as [Packer.Pack]
// writes it is an [*Error], or has other values.
package packed
