package kerneltest

import "math"

// mmaHandler compiles mma.sync of 16 × 8 × 8 numbers in the format TF32, the product of matrices that tensor cores compute.
func mmaHandler(in *ins) {
	for _, m := range []string{"sync", "aligned", "m16n8k8", "row", "col"} {
		if !in.take(m) {
			in.fail("expected mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32: .%s is missing", m)
		}
	}
	if !in.take("f32") || !in.take("tf32") || !in.take("tf32") || !in.take("f32") {
		in.fail("expected .f32.tf32.tf32.f32")
	}
	in.count(4, 4)
	for i, n := range []int{4, 4, 2, 4} {
		if a := in.arguments[i]; a.kind != vectorArgument || len(a.parts) != n {
			in.fail("operand %d is not %d registers in braces", i+1, n)
		}
	}
	o := new(matrixProduct)
	for i := range o.to {
		o.a[i], o.c[i] = in.source(in.arguments[1].parts[i], b32), in.source(in.arguments[3].parts[i], f32)
	}
	for i := range o.b {
		o.b[i] = in.source(in.arguments[2].parts[i], b32)
	}
	for i := range o.to {
		o.to[i] = in.destination(in.arguments[0].parts[i], f32)
	}
	in.out.kind, in.out.members, in.out.operation = collective, constant(math.MaxUint32), o
}

// matrixProduct is d = a · b + c. The lanes hold a as 16 rows, b as 8 columns and c and d as 16 rows.
type matrixProduct struct {
	to   [4]int32
	a, c [4]source
	b    [2]source
}

//go:norace
func (o *matrixProduct) execute(w *warp, mask uint32) {
	if mask != math.MaxUint32 {
		w.fault(-1, ErrSynchronization, "mma by the lanes %#x, expected all", mask)
	}
	var a [16][8]float64
	var b [8][8]float64
	for i := range o.a {
		row := o.a[i].read(w)
		for lane, x := range row {
			a[lane/4+i%2*8][lane%4+i/2*4] = tensorFloat(x)
		}
	}
	for i := range o.b {
		row := o.b[i].read(w)
		for lane, x := range row {
			b[lane%4+i*4][lane/4] = tensorFloat(x)
		}
	}
	var results [4][lanes]uint64
	for i := range o.c {
		row := o.c[i].read(w)
		for lane, x := range row {
			sum := float64(math.Float32frombits(uint32(x)))
			for k := range 8 {
				sum += a[lane/4+i/2*8][k] * b[k][lane%4*2+i%2]
			}
			results[i][lane] = uint64(math.Float32bits(float32(sum)))
		}
	}
	for i, to := range o.to {
		w.set(to, mask, &results[i], ^uint64(0))
	}
}

// tensorFloat returns the number of a register, of which tensor cores read the upper 19 bits.
func tensorFloat(x uint64) float64 { return float64(math.Float32frombits(uint32(x) &^ 0x1fff)) }
