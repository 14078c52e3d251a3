package attack

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// beat starts a timer of the kernel whose ticks wake the Go scheduler, which then looks at its own timers too. It returns how to
// stop it; a system that has no such timer does without.
func beat(period time.Duration) (stop func()) {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return func() {}
	}
	file := os.NewFile(uintptr(fd), "timerfd") // not blocking, and so the runtime's poller waits for it
	tick := unix.NsecToTimespec(int64(period))
	if err := unix.TimerfdSettime(fd, 0, &unix.ItimerSpec{Interval: tick, Value: tick}, nil); err != nil {
		_ = file.Close()
		return func() {}
	}
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		var ticks [8]byte
		for {
			if _, err := file.Read(ticks[:]); err != nil {
				return
			}
		}
	}()
	return func() {
		_ = file.Close()
		<-gone
	}
}

// clockIsReal reports whether time.Now is the machine's clock, and not the virtual one of a test, in which nothing must wait for the real one.
func clockIsReal() bool {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_REALTIME, &now); err != nil {
		return false
	}
	return time.Since(time.Unix(now.Unix())).Abs() < time.Minute
}
