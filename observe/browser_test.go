//go:build unix

package observe_test

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/internal/testing/await"
	"github.com/gpuframe/gpuframe/memory"
	"github.com/gpuframe/gpuframe/observe"
)

// browser is a page of a headless Chromium, controlled with the DevTools protocol over pipes.
type browser struct {
	t       *testing.T
	to      *os.File
	from    *os.File
	replies *bufio.Reader
	session string
	last    int
	// problems are messages of the console and requests that went elsewhere.
	problems []string
	allowed  string
	// address is that of the page that is there. loaded is set when it has been loaded.
	address string
	loaded  bool
}

// message is a message of the protocol: a reply to the command ID, or an event.
type message struct {
	ID     int             `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Message string `json:"message"`
	} `json:"error"`
}

// chromium returns the path of Chromium, without which it skips the test.
func chromium(t *testing.T) string {
	path, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("no chromium is installed (Debian's package chromium): the page is not opened")
	}
	return path
}

// newBrowser starts Chromium until the end of the test. Only addresses that begin with allowed
// may be loaded. A Chromium that ends before it has opened an empty page is started again: that
// says nothing about the page. A machine on which it never opens one counts as without Chromium.
func newBrowser(t *testing.T, allowed string) *browser {
	path := chromium(t)
	const attempts = 5
	for range attempts {
		b, messages := startBrowser(t, path, allowed)
		if b != nil {
			for _, domain := range []string{"Inspector", "Runtime", "Log", "Network", "Page", "Accessibility"} {
				b.command(domain+".enable", nil, nil)
			}
			return b
		}
		t.Logf("chromium has ended before it opened an empty page:\n%s", messages)
	}
	t.Skipf("chromium does not start here, in %d attempts: the page is not opened", attempts)
	return nil
}

// startBrowser starts Chromium with an empty page. If Chromium ends before the page is there,
// the result is nil and what Chromium has written.
func startBrowser(t *testing.T, path, allowed string) (b *browser, messages string) {
	fromTest, to, err := os.Pipe()
	require.NoError(t, err)
	from, fromBrowser, err := os.Pipe()
	require.NoError(t, err)
	// Processes of the browser may still write after the first has ended, so a test's own
	// folder for temporary files could not be removed.
	profile, err := os.MkdirTemp("", "chromium")
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(profile) })
	command := exec.CommandContext(await.Context(t), path, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
		"--disable-background-networking", "--disable-component-update", "--remote-debugging-pipe", "--user-data-dir="+profile)
	command.ExtraFiles = []*os.File{fromTest, fromBrowser}
	// A file, because processes of the browser keep a pipe open after the first has ended.
	log, err := os.Create(filepath.Join(profile, "messages"))
	require.NoError(t, err)
	command.Stdout, command.Stderr = log, log
	require.NoError(t, command.Start())
	require.NoError(t, log.Close())
	require.NoError(t, fromTest.Close())
	require.NoError(t, fromBrowser.Close())
	b = &browser{t: t, to: to, from: from, replies: bufio.NewReader(from), allowed: allowed}
	var target struct{ TargetID string }
	var attached struct{ SessionID string }
	err = b.send("Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	if err == nil {
		err = b.send("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached)
	}
	if err != nil {
		_ = command.Process.Kill() // it may have ended
		_ = command.Wait()
		text, _ := os.ReadFile(log.Name())
		require.NoError(t, to.Close())
		require.NoError(t, from.Close())
		return nil, fmt.Sprintf("%v\n%s", err, text)
	}
	t.Cleanup(func() {
		b.command("Browser.close", nil, nil)
		_ = command.Wait() // chromium may exit with a failure when it is closed
		require.NoError(t, to.Close())
		require.NoError(t, from.Close())
	})
	b.session = attached.SessionID
	return b, ""
}

// command sends a command and reads up to its reply, which must be no error.
func (b *browser) command(method string, params map[string]any, result any) {
	b.t.Helper()
	if err := b.send(method, params, result); method != "Browser.close" {
		require.NoError(b.t, err, method)
	}
}

// send sends a command and reads up to its reply. An error means that the browser has ended or
// hangs, or has refused the command.
func (b *browser) send(method string, params map[string]any, result any) error {
	b.last++
	sent := map[string]any{"id": b.last, "method": method}
	if params != nil {
		sent["params"] = params
	}
	if b.session != "" && method != "Browser.close" {
		sent["sessionId"] = b.session
	}
	text, err := json.Marshal(sent)
	require.NoError(b.t, err)
	limit := time.Now().Add(await.Limit)
	require.NoError(b.t, errors.Join(b.to.SetWriteDeadline(limit), b.from.SetReadDeadline(limit)))
	if _, err := b.to.Write(append(text, 0)); err != nil {
		return err
	}
	for {
		line, err := b.replies.ReadBytes(0)
		if err != nil {
			return err
		}
		var m message
		require.NoError(b.t, json.Unmarshal(line[:len(line)-1], &m))
		switch {
		case m.ID != b.last:
			b.event(m)
		case m.Error != nil:
			return errors.New(m.Error.Message)
		case result != nil:
			return json.Unmarshal(m.Result, result)
		default:
			return nil
		}
	}
}

// event notes problems.
func (b *browser) event(m message) {
	switch m.Method {
	case "Page.frameNavigated":
		var to struct{ Frame struct{ URL string } }
		require.NoError(b.t, json.Unmarshal(m.Params, &to))
		b.address, b.loaded = to.Frame.URL, false
	case "Page.loadEventFired":
		b.loaded = true
	case "Inspector.targetCrashed":
		b.t.Fatal("the process of the page has crashed: no command will be answered")
	case "Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded":
		if strings.Contains(string(m.Params), `"level":"verbose"`) {
			return // advice
		}
		b.problems = append(b.problems, m.Method+" "+string(m.Params))
	case "Network.requestWillBeSent":
		var sent struct{ Request struct{ URL string } }
		require.NoError(b.t, json.Unmarshal(m.Params, &sent))
		if url := sent.Request.URL; !strings.HasPrefix(url, b.allowed) && !strings.HasPrefix(url, "data:") {
			b.problems = append(b.problems, "request of "+url)
		}
	}
}

// open loads a page. Until it is loaded, an expression could belong to the page before it.
func (b *browser) open(url string) {
	b.command("Page.navigate", map[string]any{"url": url}, nil)
	for b.address != url || !b.loaded {
		line, err := b.replies.ReadBytes(0)
		require.NoError(b.t, err)
		var m message
		require.NoError(b.t, json.Unmarshal(line[:len(line)-1], &m))
		b.event(m)
	}
}

// evaluate returns the value of an expression, or of its promise.
func (b *browser) evaluate(expression string) any {
	var reply struct {
		Result           struct{ Value any }
		ExceptionDetails json.RawMessage
	}
	b.command("Runtime.evaluate", map[string]any{"expression": expression, "awaitPromise": true, "returnByValue": true}, &reply)
	require.Empty(b.t, string(reply.ExceptionDetails), expression)
	return reply.Result.Value
}

// await waits until a condition is true.
func (b *browser) await(condition string) {
	b.t.Helper()
	ok := b.evaluate(fmt.Sprintf(`new Promise((done) => {
		const until = Date.now() + 900000;
		const check = () => (%s) ? done(true) : Date.now() > until ? done(false) : setTimeout(check, 20);
		check();
	})`, condition))
	require.Equal(b.t, true, ok, "%s did not come true; the page has %v", condition, b.evaluate("document.body.innerText"))
}

// screenshot writes a picture into the folder of GPUFRAME_SCREENSHOTS, if it is set.
func (b *browser) screenshot(name string) {
	folder := os.Getenv("GPUFRAME_SCREENSHOTS")
	if folder == "" {
		return
	}
	var picture struct{ Data string }
	b.command("Page.captureScreenshot", map[string]any{"format": "png"}, &picture)
	bytes, err := base64.StdEncoding.DecodeString(picture.Data)
	require.NoError(b.t, err)
	require.NoError(b.t, os.WriteFile(filepath.Join(folder, name+".png"), bytes, 0o600))
}

// show sets the size of the window and the colour scheme, and waits until the page has them.
func (b *browser) show(width, height int, scheme string) {
	b.command("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false}, nil)
	b.command("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]any{{"name": "prefers-color-scheme", "value": scheme}}}, nil)
	b.await(fmt.Sprintf(`innerWidth === %d && innerHeight === %d && matchMedia("(prefers-color-scheme: %s)").matches`, width, height, scheme))
}

// namelessControls returns the roles of controls, tables and pictures that a screen reader
// has no name for.
func (b *browser) namelessControls() []string {
	var tree struct {
		Nodes []struct {
			Ignored bool
			Role    struct{ Value any }
			Name    struct{ Value any }
		}
	}
	b.command("Accessibility.getFullAXTree", nil, &tree)
	var found []string
	seen := 0
	for _, n := range tree.Nodes {
		switch role, _ := n.Role.Value.(string); role {
		case "button", "textbox", "img", "image", "region", "link", "DisclosureTriangle", "columnheader", "rowheader", "heading":
			seen++
			if name, _ := n.Name.Value.(string); !n.Ignored && strings.TrimSpace(name) == "" {
				found = append(found, role)
			}
		}
	}
	require.Greater(b.t, seen, 20)
	return found
}

// contrast is the smallest contrast of a text with its background, by WCAG.
const contrast = `(() => {
	const numbers = (c) => c.match(/[\d.]+/g).map(Number);
	const light = (c) => { const [r, g, b] = numbers(c).map((v) => { v /= 255; return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; }); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
	const back = (e) => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor; const n = numbers(c); if (n.length < 4 || n[3] > 0) return c; } return "rgb(255,255,255)"; };
	let least = 21;
	for (const e of document.querySelectorAll("body *")) {
		if (![...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim()) || !e.checkVisibility()) continue;
		const [a, b] = [light(getComputedStyle(e).color), light(back(e))];
		least = Math.min(least, (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05));
	}
	return least;
})()`

// checkAxe checks the accessibility of the page with axe-core, if scripts/fetch-axe.sh has
// fetched it.
func (b *browser) checkAxe() {
	source, err := os.ReadFile("../build/axe/axe.min.js")
	if err != nil {
		b.t.Log("scripts/fetch-axe.sh has not fetched axe-core: the page is not checked with it")
		return
	}
	b.evaluate(string(source) + "; 0")
	// The page is paused meanwhile, so that no part is replaced while it is checked.
	found := b.evaluate(`(async () => {
		document.getElementById("pause").click();
		const result = await axe.run(document);
		document.getElementById("pause").click();
		if (result.passes.length < 20) return "axe-core has checked " + result.passes.length + " rules only";
		return result.violations.map((v) => v.id + ": " + v.help + " " + v.nodes.map((n) => n.html).join(" ")).join("\n");
	})()`)
	assert.Empty(b.t, found)
}

func TestPageInABrowser(t *testing.T) {
	chromium(t) // before queries run, which a skip would not wait for
	s := newService(t, "query "+hostile)
	loadPrices(t, s.engine.Manager(), 5000, hostile)
	_, err := s.engine.Manager().Allocate(2<<30, memory.AllocateOptions{Tag: "failed " + hostile})
	require.ErrorIs(t, err, memory.ErrBudget)
	tenant, err := s.engine.Tenant("tenant "+hostile, 0)
	require.NoError(t, err)
	defer func() { require.NoError(t, tenant.Close()) }()
	ended, err := gpuframe.From(s.engine, []struct{ N int64 }{{1}}).Collect(t.Context())
	require.NoError(t, err)
	require.NoError(t, ended.Release())
	const prefix = "/debug/gpu"
	mux := http.NewServeMux()
	mux.Handle(prefix+"/", http.StripPrefix(prefix, s.recorder.Handler(observe.HandlerOptions{Token: "secret", Interval: 50 * time.Millisecond, WriteLimit: await.Limit})))
	server := httptest.NewServer(mux)
	defer server.Close()
	defer s.recorder.Close()
	b := newBrowser(t, server.URL+prefix+"/")
	b.show(1600, 1000, "light")
	b.open(server.URL + prefix + "/")
	b.await(`Number(document.body.dataset.updates) >= 2 && document.querySelectorAll("#tags tbody tr").length > 0`)
	for _, part := range []struct{ id, want string }{
		{"glance-use", "of 1.00 GiB"}, {"glance-tags", hostile}, {"glance-before", "were in use"}, {"glance-failures", "1 request failed"},
		{"glance-failure", "the budget had no room"}, {"glance-queries", "1 running, 0 waiting"}, {"glance-query", "query " + hostile},
		{"operations", "scan record reader"}, {"operations", "100 %"}, {"durations-text", "1 completed, 0 failed, 0 cancelled"}, {"durations-most", "1 query"},
	} {
		assert.Contains(t, b.evaluate(fmt.Sprintf(`document.getElementById(%q).innerText`, part.id)), part.want)
	}
	assert.Equal(t, "live", b.evaluate(`document.getElementById("state").textContent`))
	text := b.evaluate("document.body.innerText").(string)
	for _, name := range []string{"query ", "tenant ", "tag ", "2.00 GiB for failed "} {
		assert.Contains(t, text, name+hostile, "names are shown as text")
	}
	assert.EqualValues(t, 0, b.evaluate(`document.querySelectorAll("main img, main script").length`))
	assert.Equal(t, "gpuframe: device memory", b.evaluate("document.title"))
	assert.Contains(t, text, "loadPrices")

	loadPrices(t, s.engine.Manager(), 123_000, "later")
	b.await(`document.getElementById("tags").innerText.includes("120 KiB")`)

	b.evaluate(`document.getElementById("map-read").click()`)
	b.await(`document.querySelectorAll("#map rect").length >= 2`)
	assert.Contains(t, b.evaluate(`document.getElementById("map-blocks").innerText`), "tag "+hostile)
	assert.Contains(t, b.evaluate(`document.getElementById("map-text").innerText`), "fragmentation")
	b.evaluate(`document.querySelectorAll("#map rect")[1].dispatchEvent(new MouseEvent("click"))`)
	assert.EqualValues(t, 1, b.evaluate(`document.querySelectorAll("#map-blocks li").length`))
	assert.Contains(t, b.evaluate(`document.getElementById("map-blocks").innerText`), "loadPrices")
	b.evaluate(`document.getElementById("map-read").click()`)
	b.await(`document.querySelectorAll("#map-blocks li").length >= 2`)

	for _, scheme := range []string{"light", "dark"} {
		for _, width := range []int{360, 1600} {
			b.show(width, 1000, scheme)
			assert.LessOrEqual(t, b.evaluate("document.documentElement.scrollWidth"), float64(width), "the page is not wider than the window")
			lists := width == 360
			assert.Equal(t, lists, b.evaluate(`getComputedStyle(document.querySelector("#managers td")).display === "flex"`), "rows are lists in a narrow window")
			assert.Equal(t, lists, b.evaluate(`getComputedStyle(document.querySelector("#managers td:nth-child(3)"), "::before").content === '"Bytes"'`), "a line has the name of its column")
			if lists {
				assert.Equal(t, true, b.evaluate(`[...document.querySelectorAll(".wide")].every((e) => e.scrollWidth <= e.clientWidth)`), "nothing scrolls sideways")
			}
		}
		assert.GreaterOrEqual(t, b.evaluate(contrast), 4.5, scheme)
		b.checkAxe()
	}
	b.show(1600, 1000, "light")
	assert.Empty(t, b.namelessControls())

	// With the keyboard only.
	b.evaluate(`document.getElementById("token").focus(); document.getElementById("token").value = "secret"; document.querySelector("#queries button").focus()`)
	for _, kind := range []string{"keyDown", "keyUp"} {
		b.command("Input.dispatchKeyEvent", map[string]any{"type": kind, "key": "Enter", "code": "Enter", "text": "\r", "windowsVirtualKeyCode": 13}, nil)
	}
	b.await(`document.getElementById("answer").textContent.includes("is being cancelled")`)
	s.goOn()
	require.ErrorIs(t, <-s.result, gpuframe.ErrCancelled)
	b.await(`document.getElementById("queries").innerText.includes("No query runs")`)
	assert.Empty(t, b.problems)
}
