// Runs a query of TPC-H by Polars on objects of S3 a number of times, and prints the milliseconds of the fastest one and its rows:
// node polars.js NUMBER ROUNDS ENDPOINT USER SECRET ROOT
// The module nodejs-polars is found by NODE_PATH.
const pl = require("nodejs-polars");

const [number, rounds, endpoint, user, secret, root] = process.argv.slice(2);

const queries = {
  1: `select l_returnflag, l_linestatus, sum(l_quantity) as q, sum(l_extendedprice) as p, sum(l_extendedprice * (1 - l_discount)) as d,
    sum(l_extendedprice * (1 - l_discount) * (1 + l_tax)) as c, avg(l_quantity) as aq, avg(l_extendedprice) as ap, avg(l_discount) as ad, count(*) as n
    from lineitem where l_shipdate <= date '1998-09-02' group by l_returnflag, l_linestatus order by l_returnflag, l_linestatus`,
  3: `select l_orderkey, sum(l_extendedprice * (1 - l_discount)) as revenue, o_orderdate, o_shippriority
    from customer join orders on c_custkey = o_custkey join lineitem on l_orderkey = o_orderkey
    where c_mktsegment = 'BUILDING' and o_orderdate < date '1995-03-15' and l_shipdate > date '1995-03-15'
    group by l_orderkey, o_orderdate, o_shippriority order by revenue desc, o_orderdate limit 10`,
  6: `select sum(l_extendedprice * l_discount) as revenue from lineitem where l_shipdate >= date '1994-01-01'
    and l_shipdate < date '1995-01-01' and l_discount between 0.05 and 0.07 and l_quantity < 24`,
  12: `select l_shipmode, sum(case when o_orderpriority = '1-URGENT' or o_orderpriority = '2-HIGH' then 1 else 0 end) as high,
    sum(case when o_orderpriority <> '1-URGENT' and o_orderpriority <> '2-HIGH' then 1 else 0 end) as low
    from orders join lineitem on o_orderkey = l_orderkey where l_shipmode in ('MAIL', 'SHIP') and l_commitdate < l_receiptdate and l_shipdate < l_commitdate
    and l_receiptdate >= date '1994-01-01' and l_receiptdate < date '1995-01-01' group by l_shipmode order by l_shipmode`,
  14: `select 100.0 * sum(case when p_type like 'PROMO%' then l_extendedprice * (1 - l_discount) else 0 end) / sum(l_extendedprice * (1 - l_discount)) as promo
    from lineitem join part on l_partkey = p_partkey where l_shipdate >= date '1995-09-01' and l_shipdate < date '1995-10-01'`,
};

const cloudOptions = {
  aws_access_key_id: user, aws_secret_access_key: secret, aws_region: "us-east-1", aws_endpoint_url: endpoint,
  aws_allow_http: "true", aws_virtual_hosted_style_request: "false",
};
let best = Infinity;
let frame;
for (let round = 0; round < Number(rounds); round++) {
  const begin = process.hrtime.bigint();
  const context = pl.SQLContext();
  for (const table of ["lineitem", "orders", "customer", "part"]) {
    if (queries[number].includes(table)) {
      context.register(table, pl.scanParquet(`${root}${table}-*.parquet`, { cloudOptions }));
    }
  }
  frame = context.execute(queries[number], { eager: false }).collectSync();
  best = Math.min(best, Number(process.hrtime.bigint() - begin) / 1e6);
}
console.log(best);
console.log(frame.toString());
