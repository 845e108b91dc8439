-- wrk's requests: wrk … -s load.lua URL -- <mode> <token> <tag>
-- create: new ConfigMaps of about 800 bytes; get, patch (merge) and apply (server-side, which the bare stack merges): the ConfigMaps
-- seed-0 … seed-99; list: 500 at a time; whole: everything there is.
-- At the end one line of JSON: requests, seconds, errors, latencies in milliseconds.

local threads = 0
function setup(thread)
   thread:set("number", threads)
   threads = threads + 1
end

local base = "/api/v1/namespaces/bench/configmaps"
local mode, tag, count = "get", "", 0
local filler = string.rep("0123456789abcdef", 40)
local headers = {}
local media = { patch = "application/merge-patch+json", apply = "application/apply-patch+yaml" }

function init(args)
   mode, tag = args[1], args[3]
   headers["Authorization"] = "Bearer " .. args[2]
   headers["Content-Type"] = media[mode] or "application/json"
end

function request()
   count = count + 1
   if mode == "create" then
      local name = string.format("%s-%d-%d", tag, number, count)
      local body = string.format(
         '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"%s","namespace":"bench","labels":{"app":"bench"}},"data":{"key":"%s"}}',
         name, filler)
      return wrk.format("POST", base, headers, body)
   elseif mode == "patch" then
      local body = string.format('{"data":{"turn":"%s-%d-%d"}}', tag, number, count)
      return wrk.format("PATCH", base .. "/seed-" .. count % 100, headers, body)
   elseif mode == "apply" then
      local name = "seed-" .. count % 100
      local body = string.format(
         '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"%s"},"data":{"applied":"%s-%d-%d"}}', name, tag, number, count)
      return wrk.format("PATCH", base .. "/" .. name .. "?fieldManager=bench&force=true", headers, body)
   elseif mode == "list" then
      return wrk.format("GET", base .. "?limit=500", headers)
   elseif mode == "whole" then
      return wrk.format("GET", base .. "?resourceVersion=0", headers)
   end
   return wrk.format("GET", base .. "/seed-" .. count % 100, headers)
end

function done(summary, latency)
   local e = summary.errors
   io.write(string.format(
      'JSON {"requests":%d,"bytes":%d,"seconds":%.3f,"errors":%d,"p50_ms":%.3f,"p99_ms":%.3f}\n',
      summary.requests, summary.bytes, summary.duration / 1e6, e.connect + e.read + e.write + e.status + e.timeout,
      latency:percentile(50) / 1e3, latency:percentile(99) / 1e3))
end
