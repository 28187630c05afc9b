//go:build cgo && unix && !(386 || arm || mips || mipsle)

package peer_test

import (
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/arrowdev/internal/peer"
)

func TestProducerAndConsumerAgree(t *testing.T) {
	balanced(t)
	each(t, peer.Types(), func(t *testing.T, kind string, options peer.Options) {
		made := produce(t, kind, options)
		seen := peer.Look(made.Device(), made.Schema(), peer.View{Padding: options.Quirks&peer.Padded != 0})
		require.Empty(t, seen.Problems)
		require.Equal(t, made.Text, seen.Values)
		require.Equal(t, options.Length, strings.Count(seen.Values, "\n"))
	})
}

func TestSizes(t *testing.T) {
	require.Equal(t, []int{72, 80, 128, 40, 48, 48}, []int{
		peer.SchemaBytes, peer.ArrayBytes, peer.DeviceArrayBytes, peer.StreamBytes, peer.DeviceStreamBytes, peer.HandlerBytes,
	})
}

func TestTypeText(t *testing.T) {
	balanced(t)
	made := produce(t, "!+s(a!=c<u>;b=+l(item=tss:UTC))", peer.Options{Quirks: peer.Metadata})
	seen := peer.LookPlain(nil, made.Schema(), peer.View{})
	require.Empty(t, seen.Problems)
	meta := func(name string) string { return ` {"peer":"` + name + `","empty":""}` }
	require.Equal(t, "=+s flags=0"+meta("")+" (a=c flags=0"+meta("a")+" <=u flags=2"+meta("")+
		">; b=+l flags=2"+meta("b")+" (item=tss:UTC flags=2"+meta("item")+"))", seen.Type)
}

func TestTypesThatAreNotUnderstood(t *testing.T) {
	balanced(t)
	for _, kind := range []string{"", "x", "+l(item=i", "+l(i)", "d:3", "d:0,0", "d:3,1,12", "w:", "w:-1", "ts:", "+us:1,1(a=i;b=i)", "+ud:128(a=i)", "c<u", "i)"} {
		_, err := peer.Produce(kind, peer.Options{})
		require.Error(t, err, kind)
	}
}

// field returns the words of a struct, for tests that corrupt them.
func field(struct_ unsafe.Pointer, word int) *uintptr {
	return (*uintptr)(unsafe.Add(struct_, 8*word))
}

func TestConsumerDetectsErrors(t *testing.T) {
	balanced(t)
	const length, nulls, offset, buffers, children, shown, release = 0, 1, 2, 3, 4, 5, 8
	pointer := func(address uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&address)) }
	for name, c := range map[string]struct {
		kind   string
		damage func(made *peer.Made, device, schema unsafe.Pointer)
		says   string
	}{
		"length":         {"i", func(_ *peer.Made, d, _ unsafe.Pointer) { *field(d, length) = ^uintptr(0) }, "length -1"},
		"offset":         {"i", func(_ *peer.Made, d, _ unsafe.Pointer) { *field(d, offset) = ^uintptr(0) }, "offset -1"},
		"null count":     {"i", func(_ *peer.Made, d, _ unsafe.Pointer) { *field(d, nulls) = 0 }, "null_count 0"},
		"null count low": {"i", func(_ *peer.Made, d, _ unsafe.Pointer) { *field(d, nulls) = ^uintptr(1) }, "null_count -2"},
		"buffers":        {"i", func(_ *peer.Made, d, _ unsafe.Pointer) { *field(d, buffers) = 1 }, "n_buffers 1, not 2"},
		"buffer":         {"i", func(_ *peer.Made, d, _ unsafe.Pointer) { *field(pointer(*field(d, shown)), 1) = 0 }, "buffer 1 is NULL"},
		"validity":       {"i", func(_ *peer.Made, d, _ unsafe.Pointer) { *field(pointer(*field(d, shown)), 0) = 0 }, "without validity"},
		"device":         {"i", func(_ *peer.Made, d, _ unsafe.Pointer) { *field(d, 10) = 7 }, "device_id 7"},
		"type":           {"i", func(_ *peer.Made, d, _ unsafe.Pointer) { *field(d, 11) = 2 }, "device_type 2"},
		"event":          {"i", func(_ *peer.Made, d, _ unsafe.Pointer) { *field(d, 12) = 8 }, "sync_event"},
		"reserved":       {"i", func(_ *peer.Made, d, _ unsafe.Pointer) { *field(d, 15) = 1 }, "reserved[2]"},
		"flags":          {"i", func(_ *peer.Made, _, s unsafe.Pointer) { *field(s, 3) = 4 }, "flags 4"},
		"children":       {"+s(a=i)", func(_ *peer.Made, d, _ unsafe.Pointer) { *field(d, children) = 0 }, "n_children 0"},
		"offsets":        {"u", func(m *peer.Made, _, _ unsafe.Pointer) { m.Buffers()[1].Bytes[4] = 0xff }, "offset 1 is 255"},
		"list":           {"+l(item=i)", func(m *peer.Made, _, _ unsafe.Pointer) { m.Buffers()[1].Bytes[80] = 0x7f }, "of "},
		"list view":      {"+vl(item=i)", func(m *peer.Made, _, _ unsafe.Pointer) { m.Buffers()[1].Bytes[1] = 0x7f }, "list 0"},
		"type id":        {"+us:1,2(a=i;b=i)", func(m *peer.Made, _, _ unsafe.Pointer) { m.Buffers()[0].Bytes[0] = 3 }, "type id 3"},
		"dense":          {"+ud:1(a=i)", func(m *peer.Made, _, _ unsafe.Pointer) { m.Buffers()[1].Bytes[0] = 99 }, "offset 99"},
		"index":          {"!C<u>", func(m *peer.Made, _, _ unsafe.Pointer) { m.Buffers()[0].Bytes[0] = 99 }, "index 99"},
		"view":           {"!vz", func(m *peer.Made, _, _ unsafe.Pointer) { m.Buffers()[0].Bytes[3] = 0x80 }, "view 0"},
		"run ends":       {"+r(run_ends=i;values=u)", func(m *peer.Made, _, _ unsafe.Pointer) { m.Buffers()[0].Bytes[0] = 0 }, "run end 0"},
		"utf8":           {"!u", func(m *peer.Made, _, _ unsafe.Pointer) { fill(m.Buffers()[1].Bytes, 0xff) }, "not UTF-8"},
	} {
		t.Run(name, func(t *testing.T) {
			made := produce(t, c.kind, peer.Options{Length: 20, Seed: 1})
			d, s := made.Device(), made.Schema()
			require.Empty(t, peer.Look(d, s, peer.View{}).Problems)
			// The corrupted struct is restored before the release.
			array, schema, before := save(d, peer.DeviceArrayBytes), save(s, peer.SchemaBytes), words(d, buffers, shown)
			c.damage(made, d, s)
			seen := peer.Look(d, s, peer.View{})
			array()
			schema()
			before()
			require.NotEmpty(t, seen.Problems)
			require.Contains(t, strings.Join(seen.Problems, "\n"), c.says)
		})
	}
	made := produce(t, "i", peer.Options{})
	restore := save(made.Device(), peer.ArrayBytes)
	*field(made.Device(), release) = 0
	require.True(t, peer.Released(made.Device()))
	require.Contains(t, peer.Look(made.Device(), made.Schema(), peer.View{}).Problems[0], "released")
	restore()
}

func fill(bytes []byte, with byte) {
	for i := range bytes {
		bytes[i] = with
	}
}

// save returns a function that restores the current contents of memory.
func save(at unsafe.Pointer, n int) func() {
	bytes := unsafe.Slice((*byte)(at), n)
	copied := append([]byte(nil), bytes...)
	return func() { copy(bytes, copied) }
}

// words saves the table of buffers.
func words(array unsafe.Pointer, count, table int) func() {
	n := *field(array, count)
	if n == 0 {
		return func() {}
	}
	return save(*(*unsafe.Pointer)(unsafe.Pointer(field(array, table))), int(8*n))
}

func TestReleases(t *testing.T) {
	balanced(t)
	made := produce(t, "+s(a=i;b=+l(item=c<u>))", peer.Options{Length: 10})
	require.Equal(t, peer.Books{Schemas: 5, Arrays: 5}, peer.Counts())
	again := save(made.Device(), peer.ArrayBytes)
	peer.ReleaseArrayOnThread(made.Device())
	require.True(t, peer.Released(made.Device()))
	require.Equal(t, peer.Books{Schemas: 5}, peer.Counts())
	peer.ReleaseArray(made.Device()) // released: nothing happens
	require.Zero(t, peer.Counts().DoubleReleases)

	again() // a copy that was not marked as released
	peer.ReleaseArray(made.Device())
	require.Equal(t, 1, peer.Counts().DoubleReleases)
	require.Equal(t, []string{"an array was released a second time", "an array's release left release set"}, peer.Mistakes())
	*field(made.Device(), 8) = 0
}

func TestDismantle(t *testing.T) {
	balanced(t)
	for seed := range uint64(20) {
		for _, order := range []peer.Order{peer.BaseFirst, peer.BaseLast} {
			made := produce(t, "!+s(a=i;b=+l(item=c<u>);c=vu;d=+us:1(x=u))", peer.Options{Seed: seed, Length: 10, Ahead: 3, ChildrenAhead: 2})
			seen := peer.Dismantle(made.Device(), made.Schema(), order, seed, peer.View{})
			require.Empty(t, seen.Problems)
			require.Zero(t, peer.Counts().Arrays)
			made.Free()
		}
	}
}

func TestPlacedBuffersAreReadElsewhere(t *testing.T) {
	balanced(t)
	for _, kind := range peer.Types() {
		made := produce(t, kind, peer.Options{Length: 20, Ahead: 3, ChildrenAhead: 2, DeviceType: 2, DeviceID: 1})
		elsewhere := map[uintptr][]byte{}
		for i, buffer := range made.Buffers() {
			if buffer.OnHost {
				continue
			}
			address := uintptr(i+1) << 32 // nothing is there
			elsewhere[address] = append([]byte(nil), buffer.Bytes...)
			fill(buffer.Bytes, 0xee)
			buffer.Place(address)
		}
		read := func(from uintptr, to []byte) error { copy(to, elsewhere[from]); return nil }
		seen := peer.Look(made.Device(), made.Schema(), peer.View{DeviceType: 2, DeviceID: 1, Read: read})
		require.Empty(t, seen.Problems)
		require.Equal(t, made.Text, seen.Values)
	}
}
