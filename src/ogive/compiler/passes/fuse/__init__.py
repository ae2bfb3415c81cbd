"""The choice of values that are kept in memory; the others are computed where they are used.

    in     a parametric graph, the target, how many nodes a kernel may compute
    out    a `Choice`: the values kept, those staged in rows of scratch memory, loops of the kept

`choose_kept` makes the choice in rounds of two walks, each on the assumption that the last choice
holds, until one agrees with it:

    costs go up       from sources to results: what computing a value in place takes
                      (`recompute_costs.find_costs`)
    reads go down     from results to sources: which kernels read a value, and by which of their
                      loops (`reads/`)

At each value of the way down both are known, and one of three things happens:

    kept      it becomes the root of a kernel of its own, in memory        `keep_by_kind`, or
                                                                           `keep_reasons` by the
                                                                           times of `keep_times`
    staged    its reader has a row of it in scratch memory                 `row_staging`
    joins     it is computed by the kernels that read it

Then its own reads of its sources follow (`reads/pass_on_reads`). So softmax, `y = e / s` with
`e = exp(x - m)`, goes, from the result down:

    y   is asked for: kept, the root of a kernel with the loops r0, r1
    s   varies along r0 alone, a prefix of these loops: it joins, with a loop r2 of its own
    e   is read by r1 and by r2, the same row by two loops: it is staged along that row
    m   varies along r0 as well: it joins, with a loop r3

What holds whatever is kept is found before the rounds (`graph_facts`), as are scores, and products
and attention on tensor cores (`product_kernels/`).
"""
