#include "textflag.h"

// func copyLines(destination, source unsafe.Pointer, lines int)
//
// SSE2 only, which every amd64 processor has: one core cannot write memory
// faster with wider registers.
TEXT ·copyLines(SB), NOSPLIT, $0-24
	MOVQ destination+0(FP), DI
	MOVQ source+8(FP), SI
	MOVQ lines+16(FP), CX
	TESTQ CX, CX
	JZ   done

loop:
	PREFETCHT0 512(SI)
	MOVOU  (SI), X0
	MOVOU  16(SI), X1
	MOVOU  32(SI), X2
	MOVOU  48(SI), X3
	MOVNTO X0, (DI)
	MOVNTO X1, 16(DI)
	MOVNTO X2, 32(DI)
	MOVNTO X3, 48(DI)
	ADDQ   $64, SI
	ADDQ   $64, DI
	DECQ   CX
	JNZ    loop
	SFENCE

done:
	RET
