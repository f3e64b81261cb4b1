-- Sliding log. A sorted set of what was admitted: the score is the time, the member `total:cost`, both of this entry:
-- totals run on from entry to entry, modulo 2^52. So what is used is a difference of two entries, and when enough of it
-- ages out a bisection by rank: a question about a log of a million entries costs a handful of steps of O(log n), where
-- summing costs up would walk the log. Entries that have aged out are only in the way, and go 64 at most with each
-- charge, which adds one at most. A refund takes the newest entries away, as many as it pays back; each was once a
-- charge of its own, so that this too is bounded by what was done before, if not by a number.
-- A third field of the newest member, left by refunds, says up to when all is forgotten, whatever the clock says.
-- Arguments: capacity, period.
--@ read
  elseif kind == 'l' then
    local capacity, period = ARGV[p + 1] + 0, ARGV[p + 2] + 0
    p = p + 3
    local tail = pcall('ZRANGE', key, -1, -1, 'WITHSCORES')
    local s = {kind, tail.err and tail or tail[1], used = 0, ends = now, period = period, reply = n}
    local oldest, wait, before = {}, 0, 0
    if tail.err then
      faults = faults + 2 ^ (i - 1)
    elseif tail[1] then
      local total, part, mark = match(tail[1], '^(%d+):(%d+):?(%d*)$')
      local at = tonumber(tail[2])
      total, part, mark = tonumber(total), tonumber(part), tonumber(mark) or -1
      if not total or total >= 4503599627370496 or part < 1 or part > 4294967295 or not (at >= 0 and at - now <= slack)
        or at % 1 ~= 0 then
        faults = faults + 2 ^ (i - 1)
      elseif at + period > now then
        -- A clock behind the newest entry finds nothing that the entry outlived.
        s.horizon = (at > now and at or now) - period
        if s.horizon < mark then s.horizon = mark end
        oldest = call('ZRANGEBYSCORE', key, format('(%d', s.horizon), '+inf', 'WITHSCORES', 'LIMIT', 0, 1)
        local first_total, first_part = match(oldest[1] or '', '^(%d+):(%d+)')
        if first_total then
          before = (first_total - first_part) % 4503599627370496
          s.used = (total - before) % 4503599627370496
        end
        if s.used < 1 or s.used > 4294967295 then
          faults = faults + 2 ^ (i - 1)
          s.used = 0
        end
        s.total, s.part, s.mark, s.at, s.first, s.before = total, part, mark, at, oldest[1], before
        s.ends = at + period
      end
    end
    local left = capacity - s.used
    local asked = verb == 'm' and cost > 0 and 1 or cost
    if least > left then least = left end
    if asked > left and asked > 0 and verb ~= 'f' then
      fits = false
      if s.used > 0 and asked <= capacity then
        -- The oldest entry with which enough will have aged out; mostly the very oldest.
        local enough = asked - left
        if (match(oldest[1], '^%d+') - before) % 4503599627370496 < enough then
          local low, high = call('ZRANK', key, oldest[1]) + 1, call('ZCARD', key) - 1
          while low < high do
            local middle = (low + high - (low + high) % 2) / 2
            local member = call('ZRANGE', key, middle, middle)[1]
            local here = match(member, '^%d+') or 0
            if (here - before) % 4503599627370496 < enough then low = middle + 1 else high = middle end
          end
          oldest = call('ZRANGE', key, low, low, 'WITHSCORES')
        end
        wait = oldest[2] + period - now
      end
    end
    reply[n + 1], reply[n + 2], reply[n + 3], reply[n + 4], reply[n + 5] = s.used, wait, 0, s.used, s.ends
    size = n + 5
    states[i] = s
--@ write
  elseif kind == 'l' then
    local used, total = s.used, s.total
    ends = s.ends
    if verb == 'f' and cost > 0 and used > 0 then
      if cost >= used then
        used, gone = 0, true
      else
        -- The newest entry of which something is left, and everything after it away.
        local member, left_total, left_part, at = s[2], total, s.part, s.at
        local keep = (total - cost - s.before) % 4503599627370496
        if (total - s.part - s.before) % 4503599627370496 >= keep then
          local low, high = call('ZRANK', key, s.first), call('ZCARD', key) - 2
          while low < high do
            local middle = (low + high - (low + high) % 2) / 2
            local here = match(call('ZRANGE', key, middle, middle)[1], '^%d+') or 0
            if (here - s.before) % 4503599627370496 < keep then low = middle + 1 else high = middle end
          end
          local found = call('ZRANGE', key, low, low, 'WITHSCORES')
          member, at = found[1], found[2] + 0
          left_total, left_part = match(member, '^(%d+):(%d+)')
          left_total, left_part = left_total or total, left_part or 0
          call('ZREMRANGEBYRANK', key, low + 1, -1)
        end
        total = (s.before + keep) % 4503599627370496
        local part = left_part - (left_total - total) % 4503599627370496
        call('ZREM', key, member)
        local mark = s.horizon >= 0 and format(':%d', s.horizon) or ''
        call('ZADD', key, format('%d', at), format('%d:%d', total, part) .. mark)
        used, written, ends = used - cost, true, at + s.period
      end
    elseif verb ~= 'f' and granted > 0 then
      written = true
      if used == 0 then
        if s[2] then call('UNLINK', key) end
        call('ZADD', key, format('%d', now), format('%d:%d', granted, granted))
        ends = now + s.period
      else
        total = (total + granted) % 4503599627370496
        local at, part, mark = now, granted, s.mark > now - s.period and s.mark or -1
        if s.at >= now then
          -- Two of one instant, or a clock behind: the newest entry grows.
          at, part, mark = s.at, s.part + granted, s.mark
          call('ZREM', key, s[2])
        end
        call('ZADD', key, format('%d', at), format('%d:%d', total, part) .. (mark >= 0 and format(':%d', mark) or ''))
        local aged = call('ZCOUNT', key, '-inf', format('%d', s.horizon))
        if aged > 0 then call('ZREMRANGEBYRANK', key, 0, (aged > 64 and 64 or aged) - 1) end
        ends = at + s.period
      end
      used = used + granted
    end
    reply[s.reply + 4], reply[s.reply + 5] = used, ends
