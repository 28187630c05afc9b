package kerneltest

// sharedWord records the last accesses to four bytes of shared memory. Accesses before
// a barrier or fence of the block are dropped.
type sharedWord struct {
	epoch  uint32
	writer user
	reader user
	atomic bool  // the writer's access was atomic
	mixed  uint8 // bytes that several warps have read
}

// user is a thread's access.
type user struct {
	thread int32  // thread + 1; 0: no access
	sync   uint32 // value of warp.syncs at the access
	step   uint64
	bytes  uint8 // bytes of the word
}

type access uint8

const (
	reading access = iota
	writing
	updating // atomically
)

// watch reports a race: two threads use the same shared memory, one of them writes, and
// nothing between orders the accesses. A barrier or fence orders threads of different
// warps; bar.warp.sync also orders threads of one warp. Volatile accesses are exempt,
// because threads wait for each other with them, and so are two writes of the same
// value: same is true if the memory had the value before a write.
//
//go:norace
func (w *warp) watch(a *addressing, address uint64, lane, bytes int, kind access, same bool) {
	switch {
	case a.volatile && kind != updating:
		return
	case a.space == sharedSpace:
	case a.space == genericSpace && address>>windowShift == sharedWindow>>windowShift:
		address -= sharedWindow
	default:
		return
	}
	me := user{thread: int32(w.number*lanes+lane) + 1, sync: w.syncs, step: w.block.launch.steps, bytes: 15}
	if bytes < 4 {
		me.bytes = uint8(1<<bytes-1) << (address & 3)
	}
	for at := address / 4; at <= (address+uint64(bytes)-1)/4; at++ {
		word := &w.block.shadow[at]
		if word.epoch != w.block.epoch {
			*word = sharedWord{epoch: w.block.epoch}
		}
		if word.writer.conflicts(me) && (kind != updating || !word.atomic) && (kind != writing || !same) {
			w.fault(lane, ErrRace, "race: shared memory at %#x was written by thread %d, and no barrier or fence orders the two accesses", at*4, word.writer.thread-1)
		}
		if kind == reading {
			if word.reader.thread != 0 && otherWarp(word.reader.thread, me.thread) {
				word.mixed |= word.reader.bytes & me.bytes
			}
			word.reader = me
			continue
		}
		if word.mixed&me.bytes != 0 || word.reader.conflicts(me) {
			w.fault(lane, ErrRace, "race: shared memory at %#x was read by thread %d, and no barrier or fence orders the two accesses", at*4, word.reader.thread-1)
		}
		word.writer, word.atomic = me, kind == updating
	}
}

func (u user) conflicts(me user) bool {
	switch {
	case u.thread == 0 || u.thread == me.thread || u.step == me.step || u.bytes&me.bytes == 0:
		return false
	case otherWarp(u.thread, me.thread):
		return true
	}
	return u.sync == me.sync
}

func otherWarp(a, b int32) bool { return (a-1)/lanes != (b-1)/lanes }
