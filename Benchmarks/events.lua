-- Envelopes for wrk. EVENTS: events in one. KEY: the write key. IDS: `ordered` by time or `random`. RETRIES: which share of
-- the requests repeats the one before it; all others hold what nobody has sent before. INSTALLS: the numbers of those that send,
-- in turn; none: a new one each time. PAUSE: what a connection rests after an answer, in milliseconds. RATE: requests a second, however
-- long answers take, as long as a connection is free. PEOPLE: so many installs in turn, which do something with what they received.
--
-- The load shares the machine with what it measures, so it costs as little as it can: an envelope is made once, and only
-- the digits of ids and times in it are written anew.
local ffi = require("ffi")
local events = tonumber(os.getenv("EVENTS") or "1")
local run = tonumber(os.getenv("RUN") or "0")
local shuffled = os.getenv("IDS") == "random"
local retries = tonumber(os.getenv("RETRIES") or "0")

local senders = {}
for number in (os.getenv("INSTALLS") or ""):gmatch("%d+") do senders[#senders + 1] = tonumber(number) end
local pause = tonumber(os.getenv("PAUSE") or "0")
if pause > 0 then
  function delay() return pause end
end
local rate = tonumber(os.getenv("RATE") or "0")
if rate > 0 then
  ffi.cdef("struct moment { long seconds, nanoseconds; }; int clock_gettime(int clock, struct moment *moment);")
  local moment, due = ffi.new("struct moment"), nil
  function delay()
    ffi.C.clock_gettime(1, moment)
    local time = tonumber(moment.seconds) * 1000 + tonumber(moment.nanoseconds) / 1e6
    due = (due or time) + 1000 / rate
    return math.max(0, math.floor(due - time))
  end
end
local people = tonumber(os.getenv("PEOPLE") or "0")

-- What all do with one delivery, and people with four: type, own members, which of them. The tap is on what the last envelope brought.
local attached = ',"via":"service_extension","media":{"kind":"image","outcome":"attached","bytes":120344,"ms":420,"network":"wifi"}'
local kinds = people == 0 and {{"notification.received", attached}} or {
  {"notification.received", attached}, {"notification.received", attached}, {"notification.received", attached},
  {"notification.received", attached}, {"notification.opened", ',"launch":"warm"', 2}, {"notification.dismissed", "", 3},
  {"story.started", ',"page_count":3', 4}, {"story.page_shown", ',"page_index":0', 4}, {"story.finished", "", 4},
  {"action.tapped", ',"action_id":"BUY"', 1},
}

local now = "0000-00-00T00:00:00"
local list, deliveries = {}, {}
for i = 1, events do
  local kind = kinds[(i - 1) % #kinds + 1]
  deliveries[i] = i - (i - 1) % #kinds + (kind[3] or (i - 1) % #kinds + 1) - 1
  list[i] = string.format(
    '{"id":"@@@@@@@@-%04x-7d0a-b1c4-%06x000000","type":"%s","at":"%s.%03dZ","seq":%d,'
      .. '"notification":{"fcm_message_id":"0:17321814^^^^^^^^%%31bd1c96","id":"req-^^^^^^^^","category":"PW_STORIES",'
      .. '"thread":"promo","campaign":"black-friday","origin":"remote","alert":true}%s}',
    i, run, kind[1], now, i % 1000, i, kind[2])
end
local body = string.format(
  '{"sent_at":"%s.999Z","source":{"install_id":"########-0000-4000-8000-%06x000000","platform":"ios","os_version":"26.1",'
    .. '"app_version":"4.2.0","sdk":"bellwether-swift/1.0.0","device_model":"iPhone17,1","locale":"th-TH",'
    .. '"time_zone":"Asia/Bangkok","authorization":"authorized"},"events":[%s]}',
  now, run, table.concat(list, ","))
local text = string.format(
  "POST /v1/events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\n"
    .. "Content-Length: %d\r\n\r\n%s",
  os.getenv("KEY"), #body, body)
local size = #text
local buffer = ffi.new("char[?]", size)
ffi.copy(buffer, text, size)

local function places(mark)
  local found, from = {}, 1
  while true do
    local first, last = text:find(mark, from, true)
    if not first then return found end
    found[#found + 1], from = first - 1, last + 1
  end
end
local ids, messages, installs, times = places("@@@@@@@@"), places("^^^^^^^^"), places("########"), places(now)

local digits = ffi.new("char[16]", "0123456789abcdef")
local function write(at, number, base)
  for place = at + 7, at, -1 do
    buffer[place] = digits[number % base]
    number = math.floor(number / base)
  end
end

local count, second, last = 0, 0, nil
function request()
  if last and math.random() < retries then return last end
  count = count + 1
  if os.time() ~= second then
    second = os.time()
    local said = os.date("!%Y-%m-%dT%H:%M:%S", second)
    for _, at in ipairs(times) do ffi.copy(buffer + at, said, #said) end
  end
  local number = people > 0 and count % people or count
  local sender = #senders > 0 and senders[count % #senders + 1] or number * 2654435761 % 0x7fffffff
  for _, at in ipairs(installs) do write(at, sender, 16) end
  for i, at in ipairs(ids) do
    write(at, shuffled and math.random(0, 0x7fffffff) or count, 16)
    local sent = kinds[(i - 1) % #kinds + 1][1] == "action.tapped" and count > people and count - people or count
    write(messages[2 * i - 1], sent * 64 + deliveries[i], 10)
    write(messages[2 * i], sent * 64 + deliveries[i], 10)
  end
  last = ffi.string(buffer, size)
  return last
end

-- Only what was stored counts: any other answer fails the run.
local bad = 0
function response(status, _, answer)
  if status ~= 200 or not answer:find('"rejected":0', 1, true)
    or retries == 0 and not answer:find('"duplicate":0', 1, true) then
    bad = bad + 1
    if bad == 1 then io.stderr:write("unexpected answer " .. status .. ": " .. answer .. "\n") end
  end
end

-- One line: requests/s, p50 and p99 in milliseconds, answers that were not a 200, socket errors.
function done(summary, latency, _)
  local errors = summary.errors
  io.write(string.format("result %.0f %.2f %.2f %d %d\n", summary.requests / summary.duration * 1e6,
    latency:percentile(50) / 1000, latency:percentile(99) / 1000, errors.status,
    errors.connect + errors.read + errors.write + errors.timeout))
end
