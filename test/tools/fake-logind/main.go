// Command fake-logind owns org.freedesktop.login1 and org.freedesktop.systemd1 on a bus of its own, as far as graceful shutdown
// needs them: delay inhibitor locks as file descriptors, how long it waits, PrepareForShutdown, and the signal by which its
// configuration is read again. A line of standard input is a command; what happens is told on standard output, a line each.
//
//	fake-logind SOCKET CONFIG_DIR DELAY_SECONDS
package main

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/godbus/dbus/v5"
)

const manager = "org.freedesktop.login1.Manager"

type logind struct {
	conn      *dbus.Conn
	dir       string
	mu        sync.Mutex
	seconds   uint64
	preparing bool
	refusing  bool
	deaf      bool
	locks     int
}

// Inhibit gives the end of a pipe: the lock is held until all copies of it are closed.
func (l *logind) Inhibit(what, who, why, mode string) (dbus.UnixFD, *dbus.Error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.refusing || l.preparing {
		return 0, dbus.NewError("org.freedesktop.login1.OperationInProgress", []any{"The operation inhibition has been requested for is already running"})
	}
	read, write, err := os.Pipe()
	if err != nil {
		return 0, dbus.MakeFailedError(err)
	}
	l.locks++
	number := l.locks
	fmt.Printf("locked %d %s|%s|%s|%s\n", number, what, who, why, mode)
	go func() {
		buffer := make([]byte, 1)
		_, _ = read.Read(buffer)
		_ = read.Close()
		fmt.Printf("released %d\n", number)
	}()
	// The library sends a copy with the answer and does not say when it has; ours is to be closed then.
	time.AfterFunc(3*time.Second, func() { _ = write.Close() })
	return dbus.UnixFD(write.Fd()), nil
}

// Get answers for org.freedesktop.DBus.Properties.
func (l *logind) Get(iface, name string) (dbus.Variant, *dbus.Error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch name {
	case "InhibitDelayMaxUSec":
		return dbus.MakeVariant(l.seconds * 1_000_000), nil
	case "PreparingForShutdown":
		return dbus.MakeVariant(l.preparing), nil
	}
	return dbus.Variant{}, dbus.NewError("org.freedesktop.DBus.Error.UnknownProperty", []any{name})
}

// KillUnit reads the configuration, for SIGHUP.
func (l *logind) KillUnit(unit, whom string, signal int32) *dbus.Error {
	l.mu.Lock()
	defer l.mu.Unlock()
	fmt.Printf("killed %s|%s|%d\n", unit, whom, signal)
	files, _ := filepath.Glob(filepath.Join(l.dir, "*.conf"))
	for _, file := range files {
		text, _ := os.ReadFile(file)
		for _, line := range strings.Split(string(text), "\n") {
			if value, found := strings.CutPrefix(line, "InhibitDelayMaxSec="); found && !l.deaf {
				l.seconds, _ = strconv.ParseUint(value, 10, 64)
			}
		}
	}
	return nil
}

func (l *logind) command(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch line {
	case "prepare", "cancel":
		l.preparing = line == "prepare"
		_ = l.conn.Emit("/org/freedesktop/login1", manager+".PrepareForShutdown", l.preparing)
	case "nonsense":
		_ = l.conn.Emit("/org/freedesktop/login1", manager+".PrepareForShutdown")
		_ = l.conn.Emit("/org/freedesktop/login1", manager+".PrepareForShutdown", "yes")
		_ = l.conn.Emit("/elsewhere", manager+".PrepareForShutdown", true)
		_ = l.conn.Emit("/org/freedesktop/login1", manager+".PrepareForSleep", true)
	case "refuse", "allow":
		l.refusing = line == "refuse"
	case "deaf":
		l.deaf = true
	}
	fmt.Println("done " + line)
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "fake-logind:", err)
		os.Exit(1)
	}
}

func main() {
	conn, err := dbus.Connect("unix:path=" + os.Args[1])
	must(err)
	seconds, err := strconv.ParseUint(os.Args[3], 10, 64)
	must(err)
	l := &logind{conn: conn, dir: os.Args[2], seconds: seconds}
	must(conn.ExportMethodTable(map[string]any{"Inhibit": l.Inhibit}, "/org/freedesktop/login1", manager))
	must(conn.ExportMethodTable(map[string]any{"Get": l.Get}, "/org/freedesktop/login1", "org.freedesktop.DBus.Properties"))
	must(conn.ExportMethodTable(map[string]any{"KillUnit": l.KillUnit}, "/org/freedesktop/systemd1", "org.freedesktop.systemd1.Manager"))
	for _, name := range []string{"org.freedesktop.login1", "org.freedesktop.systemd1"} {
		_, err = conn.RequestName(name, dbus.NameFlagDoNotQueue)
		must(err)
	}
	fmt.Println("ready")
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		l.command(lines.Text())
	}
}
