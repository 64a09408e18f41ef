-- Envelopes that nobody has sent before, for wrk. EVENTS: events in one. KEY: the write key.
local events = tonumber(os.getenv("EVENTS") or "1")
local key = os.getenv("KEY")
local run = tonumber(os.getenv("RUN") or "0")

local next_thread = 0
function setup(thread)
  thread:set("id", next_thread)
  next_thread = next_thread + 1
end

local count = 0
local headers = { ["Authorization"] = "Bearer " .. key, ["Content-Type"] = "application/json" }

function request()
  count = count + 1
  local now = os.date("!%Y-%m-%dT%H:%M:%S")
  local list = {}
  for i = 1, events do
    list[i] = string.format(
      '{"id":"%08x-%04x-7d0a-b1c4-%06x%06x","type":"notification.received","at":"%s.%03dZ","seq":%d,'
        .. '"notification":{"fcm_message_id":"0:17321814%05d%%31bd1c96","id":"req-%d","category":"PW_STORIES",'
        .. '"thread":"promo","campaign":"black-friday","origin":"remote","alert":true},"via":"service_extension",'
        .. '"media":{"kind":"image","outcome":"attached","bytes":120344,"ms":420,"network":"wifi"}}',
      count, i, run, id, now, i % 1000, count, count * 7 % 99999, count)
  end
  local body = string.format(
    '{"sent_at":"%s.412Z","source":{"install_id":"%08x-0000-4000-8000-%06x%06x","platform":"ios","os_version":"19.1",'
      .. '"app_version":"4.2.0","sdk":"bellwether-swift/1.0.0","device_model":"iPhone17,1","locale":"th-TH",'
      .. '"time_zone":"Asia/Bangkok","authorization":"authorized"},"events":[%s]}',
    now, count * 2654435761 % 0x7fffffff, run, id, table.concat(list, ","))
  return wrk.format("POST", "/v1/events", headers, body)
end

-- Only what was stored counts: any other answer fails the run.
local bad = 0
function response(status, _, body)
  if status ~= 200 or not body:find('"duplicate":0,"rejected":0', 1, true) then
    bad = bad + 1
    if bad == 1 then io.stderr:write("unexpected answer " .. status .. ": " .. body .. "\n") end
  end
end

-- One line: requests/s, p50 and p99 in milliseconds, answers that were not a 200, socket errors.
function done(summary, latency, _)
  local errors = summary.errors
  io.write(string.format("wrk %.0f %.2f %.2f %d %d\n", summary.requests / summary.duration * 1e6,
    latency:percentile(50) / 1000, latency:percentile(99) / 1000, errors.status,
    errors.connect + errors.read + errors.write + errors.timeout))
end
