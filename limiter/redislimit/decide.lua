-- One decision: all limits are asked, and only if all agree are all charged. Nothing else runs in the server meanwhile.
--
-- KEYS     one hash for each limit
-- ARGV[1]  the moment in µs since 1970; empty: the server's own clock (anything else is for tests)
-- ARGV[2]  the cost in tokens; 0 only looks
-- ARGV[3…] for each key: algorithm, capacity (tokens), n, d, ttl (ms)
--
-- A number of Lua is a double, exact for integers up to 2^53; the caller has made sure that nothing here goes beyond. Buckets count in
-- parts: a token is d parts, and n parts flow each µs. Windows are d µs long, and n is not used.
--
-- Returns 1 or 0 (admitted or not), the moment, and for each key: the needed wait in µs (-1: never), whole tokens left, and the
-- µs until it is as good as new.

local fmod = math.fmod -- exact, which % is not

local function div(a, b)
	local rest = fmod(a, b)
	return (a - rest) / b, rest
end

local function up(a, b)
	local whole, rest = div(a, b)
	if rest > 0 then return whole + 1 end
	return whole
end

local function text(x) return string.format('%.0f', x) end

-- Somebody who counts by another rate left a part of something in other parts.
local function parts(part, of, mine)
	if of == mine or of <= 0 then return part end
	return part / of * mine
end

-- A bucket's state is how many parts of it are used. fields are read as numbers into s; used_at says what of that state is still used
-- at now, and keep is what is to be written. What flows in a long time may be beyond 2^53 and inexact, but then it is more than was
-- used, and load cuts the difference.

local bucket = {}

function bucket.load(l, s, now)
	l.full = l.capacity * l.d
	l.used = math.max(0, math.min(l.used_at(l, s, now), l.full))
end

function bucket.wait(l, cost)
	local excess = l.used + cost * l.d - l.full
	if excess <= 0 then return 0 end
	return up(excess, l.n)
end

function bucket.take(l, cost) l.used = l.used + cost * l.d end
function bucket.left(l) return (div(l.full - l.used, l.d)) end
function bucket.reset(l) return up(l.used, l.n) end

local kinds = {}

kinds['token-bucket'] = {
	fields = { 'tokens', 'tokens_part', 'tokens_of', 'last' },
	used_at = function(l, s, now)
		if not s.tokens then return 0 end
		local level = s.tokens * l.d + math.min(l.d - 1, math.floor(parts(s.tokens_part or 0, s.tokens_of or l.d, l.d)))
		return l.full - math.min(level, l.full) - (now - (s.last or now)) * l.n
	end,
	keep = function(l)
		local whole, part = div(l.full - l.used, l.d)
		return 'tokens', text(whole), 'tokens_part', text(part), 'tokens_of', text(l.d)
	end,
}

-- tat is the theoretical arrival time, in whole µs and n-ths of one, as of a rate of n parts each µs and d each token. At another rate the
-- tokens that lie ahead stay, not the time.
kinds['gcra'] = {
	fields = { 'tat', 'tat_part', 'tat_of', 'tat_token', 'last' },
	used_at = function(l, s, now)
		if not s.tat or s.tat < now then return 0 end
		local ahead, n, d = s.tat - now, s.tat_of or l.n, s.tat_token or l.d
		if n ~= l.n or d ~= l.d then return math.ceil((ahead * n + (s.tat_part or 0)) / d * l.d) end
		return ahead * n + (s.tat_part or 0)
	end,
	keep = function(l, now)
		local ahead, part = div(l.used, l.n)
		return 'tat', text(now + ahead), 'tat_part', text(part), 'tat_of', text(l.n), 'tat_token', text(l.d)
	end,
}

-- last_leak_time is when the last whole slot leaked, in ms and 1000n-ths of one: it moves on by the time of the slots that leaked,
-- never to now, so that asking often does not keep the bucket from draining
kinds['leaky-bucket'] = {
	fields = { 'queue_size', 'last_leak_time', 'leak_part', 'leak_of', 'last' },
	used_at = function(l, s, now)
		if not s.queue_size or not s.last_leak_time then return 0 end
		local used = math.min(s.queue_size, l.capacity) * l.d
		local part = math.floor(parts(s.leak_part or 0, s.leak_of or 1000 * l.n, 1000 * l.n))
		local passed = now - s.last_leak_time * 1000
		if passed <= 0 then return used end
		return used - math.max(0, passed * l.n - part)
	end,
	keep = function(l, now)
		local queued = up(l.used, l.d)
		local ms, rest = div(now, 1000)
		local part = rest * l.n - (queued * l.d - l.used) -- less what has leaked of the next slot
		if part < 0 then
			local borrowed = up(-part, 1000 * l.n)
			ms, part = ms - borrowed, part + borrowed * 1000 * l.n
		end
		return 'queue_size', text(queued), 'last_leak_time', text(ms), 'leak_part', text(part), 'leak_of', text(1000 * l.n)
	end,
}

for _, k in pairs(kinds) do
	k.load, k.wait, k.take, k.left, k.reset = bucket.load, bucket.wait, bucket.take, bucket.left, bucket.reset
end

-- Windows follow each other from 1970 on.

kinds['fixed-window'] = {
	fields = { 'window_start', 'window_used', 'last' },
	load = function(l, s, now)
		l.begin, l.used = s.window_start, s.window_used or 0
		if not l.begin or now - l.begin >= l.d then
			l.begin, l.used = now - fmod(now, l.d), 0
		end
		l.left_over = l.d - (now - l.begin)
	end,
	wait = function(l, cost)
		if cost <= l.capacity - l.used then return 0 end
		return l.left_over
	end,
	take = function(l, cost) l.used = l.used + cost end,
	left = function(l) return math.max(0, l.capacity - l.used) end,
	reset = function(l)
		if l.used == 0 then return 0 end
		return l.left_over
	end,
	keep = function(l) return 'window_start', text(l.begin), 'window_used', text(l.used) end,
}

-- how much of a window must have passed until of a count no more than room counts
local function slid_out(l, count, room)
	if count <= room then return 0 end
	return l.d - div(room * l.d, count)
end

kinds['sliding-window'] = {
	fields = { 'slide_start', 'slide_current', 'slide_previous', 'last' },
	load = function(l, s, now)
		l.begin, l.current, l.previous = s.slide_start, s.slide_current or 0, s.slide_previous or 0
		if not l.begin then
			l.begin = now - fmod(now, l.d)
		elseif now - l.begin >= l.d then
			local begin = now - fmod(now, l.d)
			l.previous = begin - l.begin < 2 * l.d and l.current or 0
			l.begin, l.current = begin, 0
		end
		l.current, l.previous = math.min(l.current, l.capacity), math.min(l.previous, l.capacity)
		l.elapsed = now - l.begin
	end,
	wait = function(l, cost)
		local room = l.capacity - l.current - cost
		if room >= 0 then return math.max(0, slid_out(l, l.previous, room) - l.elapsed) end
		return l.d - l.elapsed + slid_out(l, l.current, l.capacity - cost)
	end,
	take = function(l, cost) l.current = l.current + cost end,
	left = function(l) return math.max(0, l.capacity - l.current - up(l.previous * (l.d - l.elapsed), l.d)) end,
	reset = function(l)
		if l.current > 0 then return 2 * l.d - l.elapsed end
		if l.previous > 0 then return l.d - l.elapsed end
		return 0
	end,
	keep = function(l)
		return 'slide_start', text(l.begin), 'slide_current', text(l.current), 'slide_previous', text(l.previous)
	end,
}

local now = tonumber(ARGV[1])
if not now then
	local time = redis.call('TIME')
	now = tonumber(time[1]) * 1000000 + tonumber(time[2])
end
local cost = tonumber(ARGV[2])

-- Read all before time is settled: it never goes back behind what any of the limits has seen.
local limits, states = {}, {}
for i, key in ipairs(KEYS) do
	local at = 2 + (i - 1) * 5
	local l = setmetatable({
		capacity = tonumber(ARGV[at + 2]), n = tonumber(ARGV[at + 3]), d = tonumber(ARGV[at + 4]), ttl = ARGV[at + 5],
	}, { __index = kinds[ARGV[at + 1]] })
	local s = {}
	for j, value in ipairs(redis.call('HMGET', key, unpack(l.fields))) do
		s[l.fields[j]] = tonumber(value or nil)
	end
	if s.last and s.last > now then now = s.last end
	limits[i], states[i] = l, s
end

local admitted = 1
local waits = {}
for i, l in ipairs(limits) do
	l:load(states[i], now)
	if cost <= 0 then
		waits[i] = 0
	elseif cost > l.capacity then
		waits[i] = -1
	else
		waits[i] = l:wait(cost)
	end
	if waits[i] ~= 0 then admitted = 0 end
end

-- A refusal writes nothing, and neither does a look.
if admitted == 1 and cost > 0 then
	for i, l in ipairs(limits) do
		l:take(cost)
		redis.call('HSET', KEYS[i], 'last', text(now), l:keep(now))
		redis.call('PEXPIRE', KEYS[i], l.ttl)
	end
end

local answer = { admitted, now }
for i, l in ipairs(limits) do
	answer[#answer + 1] = waits[i]
	answer[#answer + 1] = l:left()
	answer[#answer + 1] = l:reset()
end
return answer
