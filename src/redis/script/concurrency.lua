-- Leases. A sorted set: a lease is a member `cost:id` whose score is its end. Nearly all cost 1, and then counting
-- members counts units: how many are held is the set's size, O(1), and when enough run out is a rank, O(log n). A lease
-- that costs more also has a member `c<id>` with the score -cost, by which it is found; the member `x` has the score
-- -(sum of cost - 1), without which the units could not be told from the size. Leases that have ended go 1000 at most
-- in a call; where more have, nothing is decided and the caller asks again, so that no call is long.
-- Arguments: capacity, how long a lease lasts, its id (empty: nobody's).
--@ read
  elseif kind == 'c' then
    local capacity, lease, id = ARGV[p + 1] + 0, ARGV[p + 2] + 0, ARGV[p + 3]
    p = p + 4
    local head = pcall('ZRANGE', key, 0, 0, 'WITHSCORES')
    local s = {kind, head.err and head or head[1], ends = now, lease = lease, id = id, reply = n, count = 0,
      extra = 0, negatives = 0}
    local used, wait, ended = 0, 0, {}
    if head.err then
      faults = faults + 2 ^ (i - 1)
    elseif head[1] then
      if head[2] + 0 < 0 then
        s.extra = -(call('ZSCORE', key, 'x') or 0)
        s.negatives = call('ZCOUNT', key, '-inf', '(0')
      end
      s.count = call('ZCARD', key) - s.negatives
      if s.negatives > 0 or head[2] + 0 <= now then
        ended = call('ZRANGEBYSCORE', key, 0, now, 'LIMIT', 0, 1000)
        s.overdue = #ended == 1000 and call('ZCOUNT', key, 0, now) > 1000
        again = again or s.overdue
      end
      for j = 1, #ended do
        s.extra = s.extra - (match(ended[j], '^(%d+):') or 1) + 1
      end
      s.count = s.count - #ended
      used = s.count + s.extra
      if s.count > 0 then s.ends = call('ZRANGE', key, -1, -1, 'WITHSCORES')[2] + 0 end
      if s.ends - now > 86400000000 + slack or s.ends % 1 ~= 0 or s.extra < 0 or used > 4294967295 then
        faults = faults + 2 ^ (i - 1)
      end
      if id ~= '' then
        s.member, s.cost = '1:' .. id, 1
        local held_until = call('ZSCORE', key, s.member)
        if not held_until then
          local heavy = call('ZSCORE', key, 'c' .. id)
          if heavy then
            s.member, s.cost = format('%d:', -heavy) .. id, -heavy
            held_until = call('ZSCORE', key, s.member)
          end
        end
        s.held = held_until and held_until + 0 > now
      end
    end
    local left = capacity - used
    if verb == 'n' or verb == 'l' then
      fits = fits and s.held
    elseif cost > left and cost > 0 and not s.held then
      fits = false
      if cost <= capacity and faults == 0 then
        -- The soonest that enough run out: by rank, or where some cost more than 1, counting from the first. Of those
        -- no more than 1000, since this is a hint: then it is when the last runs out.
        local missing, rank = cost - left, s.negatives + #ended
        wait = s.ends - now
        if s.extra == 0 then
          wait = call('ZRANGE', key, rank + missing - 1, rank + missing - 1, 'WITHSCORES')[2] - now
        else
          for from = rank, rank + 900, 100 do
            local some = call('ZRANGE', key, from, from + 99, 'WITHSCORES')
            for j = 1, #some, 2 do
              missing = missing - (match(some[j], '^(%d+):') or 1)
              if missing <= 0 then
                wait = some[j + 1] - now
                break
              end
            end
            if missing <= 0 or #some < 200 then break end
          end
        end
      end
    end
    s.ended, s.used = ended, used
    reply[n + 1], reply[n + 2], reply[n + 3], reply[n + 4], reply[n + 5] = used, wait, s.held and 1 or 0, used, s.ends
    size = n + 5
    states[i] = s
--@ write
  elseif kind == 'c' then
    local extra, used, ends_, changed = s.extra, s.used, now + s.lease, false
    ends = s.ends
    if #s.ended > 0 then
      call('ZREMRANGEBYRANK', key, s.negatives, s.negatives + #s.ended - 1)
      if s.negatives > 0 then
        for j = 1, #s.ended do
          local part, id = match(s.ended[j], '^(%d+):(.*)$')
          if id and part ~= '1' then call('ZREM', key, 'c' .. id) end
        end
        if extra > 0 then call('ZADD', key, -extra, 'x') else call('ZREM', key, 'x') end
      end
    end
    if again then
      changed = false
    elseif verb == 'l' then
      if s.held then
        call('ZREM', key, s.member)
        used, changed = used - s.cost, true
        if s.cost > 1 then
          extra = extra - s.cost + 1
          call('ZREM', key, 'c' .. s.id)
          if extra > 0 then call('ZADD', key, -extra, 'x') else call('ZREM', key, 'x') end
        end
      end
    elseif s.held and (verb == 'n' and granted >= 0 or verb == 'a' and granted > 0) then
      call('ZADD', key, format('%d', ends_), s.member)
      changed = true
    elseif verb == 'a' and granted > 0 then
      changed, used = true, used + granted
      if granted == 1 then
        call('ZADD', key, format('%d', ends_), '1:' .. s.id)
      else
        extra = extra + granted - 1
        call('ZADD', key, format('%d', ends_), format('%d:', granted) .. s.id, -granted, 'c' .. s.id, -extra, 'x')
      end
    end
    if changed then
      local last = call('ZRANGE', key, -1, -1, 'WITHSCORES')
      if last[1] then ends, written = last[2] + 0, true else ends = now end
    end
    reply[s.reply + 4], reply[s.reply + 5] = used, ends
