"""Black-box tables by SRBench's protocol, with published figures beside ours."""
